import { and, type Condition, eq, missing, or } from '../../kernel/table.ts';
import { A, type Execution } from '../execution.ts';

/** What a run may still spend or set aside, micro-dollars. */
export const freeOf = ({ maxCost, cost, childCost, carved, reserved }: Execution): number =>
  maxCost - cost - childCost - carved - reserved;

export const asRead = (attribute: string, value: number): Condition =>
  value === 0 ? or(missing(attribute), eq(attribute, 0)) : eq(attribute, value);

/**
 * Nothing of the parent's has changed that a budget was worked out from. Its own spending only moves under its lease, and the
 * end of a child frees more than it costs.
 */
export const asWorkedOut = (parent: Execution): Condition =>
  and(eq(A.maxCost, parent.maxCost), asRead(A.carved, parent.carved), asRead(A.openChildren, parent.openChildren));

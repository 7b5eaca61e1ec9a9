import { badRequest } from '../../kernel/errors.ts';
import { and, type Condition, eq, le, missing, or } from '../../kernel/table.ts';
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

/** Nothing has changed that says what a run may still spend beside its own step. */
export const moneyAsRead = ({ maxCost, carved, childCost }: Execution): Condition =>
  and(eq(A.maxCost, maxCost), asRead(A.carved, carved), asRead(A.childCost, childCost));

const usd = (micro: number): string => `$${micro / 1e6}`;

/**
 * A limit of money that is lowered keeps what is spent and promised already: a call under way and open children would spend
 * it all the same.
 * @param maxCost the new limit, micro-dollars
 * @returns what the write of the limit has to demand of the row
 * @throws AppError 400 naming the least that is possible
 */
export const roomFor = (execution: Execution, maxCost: number): readonly Condition[] => {
  // Raised by somebody else meanwhile, it would be lowered after all.
  if (maxCost >= execution.maxCost) return [le(A.maxCost, maxCost)];
  const least = execution.maxCost - freeOf(execution);
  if (maxCost < least) {
    const { cost, childCost, carved, reserved } = execution;
    const parts = [
      `${usd(cost + childCost)} are spent`,
      ...(reserved > 0 ? [`${usd(reserved)} are reserved for the step under way`] : []),
      ...(carved > 0 ? [`${usd(carved)} are set aside for runs that it started`] : []),
    ];
    const message = `maxCostUsd cannot be lowered to ${maxCost / 1e6}: ${parts.join(', ')}. The least that is possible now is ${least / 1e6}; pause or terminate the run to stop it.`;
    const expected = `at least ${least / 1e6}`;
    throw badRequest(message, [{ field: 'maxCostUsd', received: `number ${maxCost / 1e6}`, expected }]);
  }
  return [moneyAsRead(execution), asRead(A.cost, execution.cost), asRead(A.reserved, execution.reserved)];
};

import type { Table } from '../../kernel/table.ts';
import { ProviderError } from '../channel.ts';
import { refusedLately } from '../ingest/refused.ts';
import type { ProviderFor } from '../outbox/deps.ts';
import { getSource } from './find.ts';
import type { Source } from './source.ts';

export interface SourceTest {
  readonly ok: boolean;
  /** Whether there was anybody to ask. */
  readonly asked: boolean;
  /** Who the credentials say we are. */
  readonly login?: string;
  readonly problem?: { readonly code: string; readonly message: string };
  /** Deliveries without a good signature within a day. */
  readonly refused: number;
}

const HOURS = 24;

/** Asks the provider one cheap thing and changes nothing. @throws AppError 404 */
export const testSource = async (
  deps: { readonly table: Table; readonly provider: ProviderFor },
  orgId: string,
  sourceId: string,
  nowMs: number,
): Promise<SourceTest> => {
  const source = await getSource(deps.table, orgId, sourceId);
  const refused = await refusedLately(deps.table, source, nowMs, HOURS);
  const mute = source.kind === 'http' ? source.replyUrl === undefined : source.signsInBy === 'none';
  if (mute) return { ok: true, asked: false, refused };
  try {
    const provider = await deps.provider(source, { verb: 'read' });
    const { login } = await provider.check();
    return { ...judged(source, login), asked: true, refused };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { ok: false, asked: true, problem: { code: error.kind, message: error.message }, refused };
  }
};

const bare = (login: string): string => login.toLowerCase().replace(/\[bot\]$/, '');

/** Another name than the source's own would make us answer ourselves. */
const judged = ({ self }: Source, login: string | undefined): Pick<SourceTest, 'ok' | 'login' | 'problem'> => {
  if (login === undefined) return { ok: true };
  if (self?.login === undefined || bare(self.login) === bare(login)) return { ok: true, login };
  const message = `The credentials are those of ${login}, and self.login says ${self.login}.`;
  return { ok: false, login, problem: { code: 'another_login', message } };
};

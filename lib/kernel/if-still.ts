import { ConditionFailed, type Table, TransactionRefused, type Write } from './table.ts';

/** Runs one conditional write. False when the row had moved on already, which is then somebody else's business. */
export const ifStill = async (write: () => Promise<unknown>): Promise<boolean> => {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
};

/** The same of a transaction: all or nothing, false when any of its conditions was refused. */
export const ifAllStill = async (table: Pick<Table, 'transact'>, writes: readonly Write[]): Promise<boolean> => {
  try {
    await table.transact(writes);
    return true;
  } catch (error) {
    if (error instanceof TransactionRefused) return false;
    throw error;
  }
};

import { ConditionFailed } from './table.ts';

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

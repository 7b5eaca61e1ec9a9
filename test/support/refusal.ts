/** The error of a call that must fail; a call that succeeds fails the test. */
export const refusal = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('The call was expected to be refused.');
};

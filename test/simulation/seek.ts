/** The part of a mutant's script that all have in common: it looks for a lack, says what it saw and ends. */

/** Exit 0 when the lack shows. A row that the product itself would refuse to read ends a simulation: that is seen too. */
export const tell = async (look: () => Promise<string | undefined>): Promise<never> => {
  const found = await look().catch((error: unknown) => `it ended with ${String(error)}`);
  console.log(found?.slice(0, 400) ?? 'nothing found');
  process.exit(found === undefined ? 1 : 0);
};

/** Looks where the lack of the guard that the command line names must show. */
export const seek = <Aim>(
  aims: { readonly [guard: string]: Aim },
  firstViolation: (aim: Aim) => Promise<string | undefined>,
): Promise<never> => {
  const guard = process.argv[2] ?? '';
  const aim = aims[guard];
  if (aim === undefined) throw new Error(`There is no aim for "${guard}".`);
  return tell(() => firstViolation(aim));
};

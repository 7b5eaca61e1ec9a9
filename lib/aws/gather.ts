/**
 * Group commit: while one request is out, those who come meanwhile wait and go together behind it. Who comes alone never
 * waits, and a herd needs no timer.
 * @param most entries that one request takes
 * @param sendAll one outcome for each entry, in their order; when it rejects, all of its entries do
 */
export const gather = <Entry>(
  most: number,
  sendAll: (entries: readonly Entry[]) => Promise<readonly (Error | undefined)[]>,
): ((entry: Entry) => Promise<void>) => {
  let waiting: { readonly entry: Entry; readonly settle: PromiseWithResolvers<void> }[] = [];
  let out = false;

  const flush = async (): Promise<void> => {
    out = true;
    while (waiting.length > 0) {
      const together = waiting.slice(0, most);
      waiting = waiting.slice(most);
      try {
        const outcomes = await sendAll(together.map(({ entry }) => entry));
        together.forEach(({ settle }, index) => {
          const error = outcomes[index];
          if (error === undefined) settle.resolve();
          else settle.reject(error);
        });
      } catch (error) {
        for (const { settle } of together) settle.reject(error);
      }
    }
    out = false;
  };

  return (entry) => {
    const settle = Promise.withResolvers<void>();
    waiting.push({ entry, settle });
    if (!out) void flush();
    return settle.promise;
  };
};

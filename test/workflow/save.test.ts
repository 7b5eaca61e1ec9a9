import { beforeEach, describe, expect, it } from 'vitest';
import { makeIds } from '../../lib/kernel/ids.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { missing, type Table, TransactionRefused, type Write } from '../../lib/kernel/table.ts';
import { findWorkflow, loadWorkflow } from '../../lib/workflow/load.ts';
import { saveWorkflow } from '../../lib/workflow/save.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const ORG = 'org_00000000000000000000000000';
const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const ids = makeIds();
let table: ReturnType<typeof makeMemoryTable>;
beforeEach(() => {
  table = makeMemoryTable(() => NOW);
});

const ends = { name: 'ends', start: 'end', steps: { end: { kind: 'END' } } };
let made = 0;
/** Each time another definition of the one name. */
const save = (over: Table = table, alongside?: () => readonly Write[], more: object = {}) => {
  const definition = { ...ends, description: `save ${made++}` };
  return saveWorkflow({ table: over, ids }, [], { orgId: ORG, actor: 'key_x', definition, alongside, ...more }, NOW);
};
const saveSame = (over: Table = table, alongside?: () => readonly Write[]) =>
  save(over, alongside, { definition: ends });

/** Runs something before the next transaction reaches the table. */
const overtakenBy = (first: () => Promise<unknown>): Table => {
  let left = true;
  return {
    ...table,
    transact: async (writes) => {
      if (left) {
        left = false;
        await first();
      }
      return table.transact(writes);
    },
  };
};

describe('saving', () => {
  it('that is overtaken makes the version after', async () => {
    const late = await save(overtakenBy(() => save()));
    expect(late.version).toBe(2);
    const third = await save(overtakenBy(() => save()));
    expect(third.version).toBe(4);
    const all = await Promise.all([1, 2, 3, 4].map((version) => findWorkflow(table, ORG, 'ends', version)));
    expect(all.map((one) => one?.version)).toEqual([1, 2, 3, 4]);
  });

  it('writes nothing when what is alongside is refused, and says so', async () => {
    const note = { put: { pk: 'ORG#x', sk: 'NOTE', v: 1 }, if: missing('pk') };
    await save(table, () => [note]);
    const rows = table.dump();
    await expect(save(table, () => [note])).rejects.toBeInstanceOf(TransactionRefused);
    expect(table.dump()).toEqual(rows);
  });

  it('whose answer is lost has been done, and a repeat makes another version, never half of one', async () => {
    const lossy: Table = {
      ...table,
      transact: async (writes) => {
        await table.transact(writes);
        throw new Error('connection lost');
      },
    };
    await expect(save(lossy)).rejects.toThrow('connection lost');
    expect(await loadWorkflow(table, ORG, 'ends')).toMatchObject({ version: 1 });
    expect(await save()).toMatchObject({ version: 2 });
  });

  it('what is the newest version already answers that version and writes nothing', async () => {
    const first = await saveSame();
    const rows = table.dump();
    expect(await saveSame()).toEqual(first);
    expect(table.dump()).toEqual(rows);
    const note = { put: { pk: 'ORG#x', sk: 'NOTE', v: 1 }, if: missing('pk') };
    expect(await saveSame(table, () => [note])).toEqual(first);
    expect(table.dump()).toHaveLength(rows.length + 1);
    await expect(saveSame(table, () => [note])).rejects.toBeInstanceOf(TransactionRefused);
    expect((await save()).version).toBe(2);
    // An earlier version is not the newest one: it is kept anew.
    expect((await saveSame()).version).toBe(3);
  });

  it('the same by many at once makes one version', async () => {
    const saved = await Promise.all(Array.from({ length: 6 }, () => saveSame()));
    expect(new Set(saved.map(({ id, version }) => `${id} ${version}`)).size).toBe(1);
    expect(table.dump().filter(({ sk }) => sk.includes('VERSION'))).toHaveLength(1);
    expect((await loadWorkflow(table, ORG, 'ends')).version).toBe(1);
  });

  it('the same while another version is made in between makes the one after that', async () => {
    await saveSame();
    const note = { put: { pk: 'ORG#x', sk: 'NOTE', v: 1 }, if: missing('pk') };
    const late = await saveSame(
      overtakenBy(() => save()),
      () => [note],
    );
    expect(late.version).toBe(3);
  });

  it('as new refuses a name that another definition has taken meanwhile', async () => {
    const overtaken = overtakenBy(() => saveSame());
    await expect(save(overtaken, undefined, { onlyNew: true })).rejects.toMatchObject({ code: 'workflow_differs' });
    expect((await loadWorkflow(table, ORG, 'ends')).version).toBe(1);
    expect(await save(table, undefined, { onlyNew: true, definition: ends })).toMatchObject({ version: 1 });
  });

  it('gives up with a conflict when others are always quicker', async () => {
    const busy: Table = {
      ...table,
      transact: async (writes) => {
        await save();
        return table.transact(writes);
      },
    };
    await expect(save(busy)).rejects.toMatchObject({ status: 409, code: 'workflow_busy' });
  });
});

describe('loading', () => {
  it('takes one read with id and version, two by name, none for a built-in one', async () => {
    const { id } = await save();
    const reads: string[] = [];
    const counted: Table = {
      ...table,
      get: (key, options) => {
        reads.push(key.sk);
        return table.get(key, options);
      },
    };
    const readsOf = async (nameOrId: string, version?: number): Promise<number> => {
      reads.length = 0;
      expect(await findWorkflow(counted, ORG, nameOrId, version)).toBeDefined();
      return reads.length;
    };
    expect(await readsOf(id, 1)).toBe(1);
    expect(await readsOf('ends')).toBe(2);
    expect(await readsOf(id)).toBe(2);
    expect(await readsOf('dynamic-task')).toBe(0);
  });

  it('never half-reads a version that a newer code wrote or that is damaged', async () => {
    const { id } = await save();
    const key = keys.workflowVersion(ORG, id, 1);
    const row = await table.get(key);
    if (row === undefined) throw new Error('no row');
    for (const damage of [{ v: 2 }, { json: '{' }, { json: '{}' }, { version: 'x' }]) {
      await table.put({ ...row, ...damage });
      await expect(loadWorkflow(table, ORG, id)).rejects.toMatchObject({ name: 'UnreadableRow' });
    }
  });
});

/** What Linux tells of processes. On other systems there is nothing to read, and the figures that need it are left out. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // the process has ended, or this is not Linux
  }
};

export const HAS_PROC = read('/proc/self/stat') !== undefined;

/** Fields of `/proc/<pid>/stat` behind the name, which stands in brackets and may hold anything. */
const statOf = (pid: number): readonly string[] | undefined => {
  const text = read(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
};

/** The process and everything below it. */
const processTree = (root: number): readonly number[] => {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: Number(statOf(Number(name))?.[1]) }));
  const tree = [root];
  for (const pid of tree) tree.push(...all.filter(({ parent }) => parent === pid).map((child) => child.pid));
  return tree;
};

/** Resident memory of a process tree, megabytes; a page that several share counts once (PSS). */
export const residentMb = (root: number): number | undefined => {
  if (!HAS_PROC) return undefined;
  const kilobytes = processTree(root).map((pid) =>
    Number(/^Pss: +(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
};

/** A tick of the kernel's accounting, milliseconds (USER_HZ is 100 everywhere that matters). */
const TICK_MS = 10;

/** Processor time so far, milliseconds; 0 for a process that has ended. */
export const cpuMs = (pid: number): number => {
  const stat = statOf(pid);
  return stat === undefined ? 0 : (Number(stat[11]) + Number(stat[12])) * TICK_MS;
};

/** Processes of a function, as the local cloud keeps them in its home. */
export const pidsOf = (home: string, functionName: string): readonly number[] => {
  const all = JSON.parse(readFileSync(join(home, 'processes.json'), 'utf8')) as { [name: string]: number[] };
  return Object.entries(all).find(([name]) => name.endsWith(`-${functionName}`))?.[1] ?? [];
};

/** Which of these processes holds the TCP connection that leaves from this local port of 127.0.0.1. */
export const ownerOfPort = (port: number, pids: readonly number[]): number | undefined => {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const line = read('/proc/net/tcp')
    ?.split('\n')
    .find((one) => one.includes(`: 0100007F:${hex} `));
  const inode = line?.trim().split(/\s+/)[9];
  if (inode === undefined) return undefined;
  return pids.find((pid) => holds(pid, `socket:[${inode}]`));
};

const holds = (pid: number, socket: string): boolean => {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === socket;
      } catch {
        return false; // closed meanwhile
      }
    });
  } catch {
    return false;
  }
};

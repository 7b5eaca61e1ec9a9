/** Process groups that tests started. Whatever is left of them ends with the test's own process, failed tests included. */
const groups = new Set<number>();

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone already.
  }
};

/** @param pid leader of its own group (`detached`) */
export const keepGroup = (pid: number): void => void groups.add(pid);

export const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  kill(pid, signal);
  if (signal === 'SIGKILL') groups.delete(pid);
};

export const forgetGroup = (pid: number): void => void groups.delete(pid);

process.once('exit', () => {
  for (const pid of groups) kill(pid, 'SIGKILL');
});

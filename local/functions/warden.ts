import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Ends function processes that outlive the local cloud. A frozen process cannot notice that its parent was killed, so a
 * shell waits on a pipe from the parent: when the pipe closes, it kills what is still on its list.
 */
export interface Warden {
  watch(pid: number): void;
  forget(pid: number): void;
  close(): void;
}

const SCRIPT = `
trap '' INT TERM HUP
pids=' '
while read -r what pid; do
  case "$what" in
    +) pids="$pids$pid " ;;
    -) case "$pids" in *" $pid "*) pids="\${pids%% $pid *} \${pids#* $pid }" ;; esac ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
`;

export const startWarden = (): Warden => {
  if (process.platform === 'win32') return { watch() {}, forget() {}, close() {} };
  // A session of its own, so that a kill of the whole process group does not take it along.
  const shell: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  const tell = (line: string): void => {
    shell.stdin?.write(`${line}\n`);
  };
  return {
    watch: (pid) => tell(`+ ${pid}`),
    forget: (pid) => tell(`- ${pid}`),
    close: () => shell.stdin?.end(),
  };
};

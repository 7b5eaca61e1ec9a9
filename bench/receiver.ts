import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that takes every webhook and counts them. */
export interface Receiver {
  /** `host:port` */
  readonly host: string;
  /** Requests so far. */
  taken(): number;
  close(): void;
}

export const startReceiver = async (): Promise<Receiver> => {
  let count = 0;
  const server = createServer((request, response) => {
    count++;
    request.resume().once('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: () => count,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

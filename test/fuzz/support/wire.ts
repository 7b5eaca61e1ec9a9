/** HTTP as it comes from strangers: bytes on a socket, whole, cut, in pieces, reset. */
import { connect } from 'node:net';
import * as fc from 'fast-check';

/** How a client takes its leave after its bytes. */
export type Leave = 'end' | 'reset' | 'wait';

export interface Heard {
  /** Status of the first answer, if one came. */
  readonly status: number | undefined;
  readonly closed: boolean;
  readonly text: string;
}

const PATIENCE_MS = 5_000;

/** Sends bytes and listens until an answer is there, the server closes, or patience ends. */
export const say = (port: number, pieces: readonly Uint8Array[], leave: Leave): Promise<Heard> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const done = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      resolve({ status: status === undefined ? undefined : Number(status), closed, text });
    };
    const timer = setTimeout(() => done(false), PATIENCE_MS);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      // Our half is closed already or will be: the first head is enough.
      if (leave === 'wait' && text.includes('\r\n\r\n')) done(false);
    });
    socket.on('error', () => done(true));
    socket.on('close', () => done(true));
    socket.on('connect', () => {
      for (const piece of pieces) socket.write(piece);
      if (leave === 'reset') setImmediate(() => socket.resetAndDestroy());
      else if (leave === 'end') socket.end();
    });
  });

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'CONNECT', 'TRACE', 'BREW', 'get', ''];

const token = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);
const line = fc.string({ maxLength: 30 }).map((text) => text.replace(/[\r\n]/g, ''));

/** A request as bytes: mostly well formed around what a server looks at. */
export const request = (paths: fc.Arbitrary<string>, bodies: fc.Arbitrary<string>): fc.Arbitrary<Buffer> =>
  fc
    .record({
      method: fc.constantFrom(...METHODS),
      path: paths,
      version: fc.oneof(
        { weight: 8, arbitrary: fc.constant('HTTP/1.1') },
        fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/9', ''),
      ),
      headers: fc.array(
        fc.oneof(
          fc.tuple(token, line).map(([name, value]) => `${name}: ${value}`),
          fc.constantFrom(
            'Expect: 100-continue',
            'Connection: upgrade\r\nUpgrade: websocket',
            'Transfer-Encoding: chunked',
            'Content-Length: -1',
            'Content-Length: 5\r\nContent-Length: 6',
            'Host: a\r\nHost: b',
            'X-Amz-Target: DynamoDB_20120810.GetItem',
            'X-Amz-Target: AmazonSQS.',
            'Authorization: AWS4-HMAC-SHA256 Credential=AKIAOPERATOR/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0',
            'Authorization: AWS4-HMAC-SHA256',
            'X-Amz-Date: yesterday',
            `X-Long: ${'x'.repeat(20_000)}`,
          ),
          line,
        ),
        { maxLength: 4 },
      ),
      body: bodies,
      length: fc.constantFrom('right', 'right', 'right', 'none', 'more'),
    })
    .map(({ method, path, version, headers, body, length }) => {
      const bytes = Buffer.byteLength(body);
      const own = length === 'none' ? [] : [`Content-Length: ${length === 'right' ? bytes : bytes + 10}`];
      return Buffer.from(
        `${[`${method} ${path} ${version}`, 'Host: localhost', ...own, ...headers].join('\r\n')}\r\n\r\n${body}`,
      );
    });

export interface Speech {
  readonly pieces: readonly Uint8Array[];
  readonly leave: Leave;
}

/** What a client does with its bytes. */
export const speech = (bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Speech> =>
  fc.oneof(
    { weight: 5, arbitrary: bytes.map((one): Speech => ({ pieces: [one], leave: 'end' })) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(bytes, fc.nat(), fc.constantFrom<Leave>('end', 'reset'))
        .map(([one, at, leave]) => ({ pieces: [one.subarray(0, at % (one.length + 1))], leave })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(bytes, bytes).map(([one, two]): Speech => ({ pieces: [one, two], leave: 'end' })),
    },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ minLength: 1, maxLength: 200 })
        .map((one): Speech => ({ pieces: [one], leave: 'end' })),
    },
  );

export const portOf = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1));

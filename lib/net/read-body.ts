import { pipeline, type Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** What a request may ask for: the encodings that `readBody` can undo. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** `undefined` when the body is not encoded. A cut-off stream gives what it has: the caller is told that it was cut. */
const decoderFor = (encoding: string): Transform | undefined => {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
    case 'deflate':
      return createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
    case 'br':
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
    default:
      throw new Error(`The body has the encoding "${encoding.slice(0, 60)}", which was not asked for.`);
  }
};

/**
 * Reads a body up to `maxBytes`, counted as they come and again after decompression: what `Content-Length` says is not
 * believed, and a small body that unfolds to gigabytes ends at the limit like any other.
 */
export const readBody = async (
  raw: Readable,
  encoding: string,
  maxBytes: number,
): Promise<{ readonly body: Uint8Array; readonly truncated: boolean }> => {
  let cutRaw = false;
  const counted = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let seen = 0;
    for await (const chunk of chunks) {
      seen += chunk.length;
      if (seen > maxBytes) {
        cutRaw = true;
        const rest = chunk.length - (seen - maxBytes);
        if (rest > 0) yield chunk.subarray(0, rest);
        return;
      }
      yield chunk;
    }
  };
  const decoder = decoderFor(encoding);
  const source: AsyncIterable<Buffer> =
    decoder === undefined ? counted(raw) : pipeline(raw, counted, decoder, () => undefined);
  const chunks: Buffer[] = [];
  let size = 0;
  let truncated = false;
  try {
    for await (const chunk of source) {
      const room = maxBytes - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += Math.min(chunk.length, room);
      truncated = chunk.length > room;
      if (truncated) break;
    }
  } finally {
    raw.on('error', () => undefined);
    raw.destroy();
  }
  return { body: Buffer.concat(chunks), truncated: truncated || cutRaw };
};

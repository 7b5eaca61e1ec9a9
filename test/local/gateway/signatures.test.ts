import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clients, type Cloud, errorOf, OPERATOR, startCloud } from './cloud.ts';
import { hmac, presignedUrl, sha256Hex, signedRequest } from './raw.ts';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.remove());

const calls: { [service: string]: (clients: Clients) => Promise<unknown> } = {
  dynamodb: ({ dynamodb }) => dynamodb.send(new ListTablesCommand({})),
  sqs: ({ sqs }) => sqs.send(new GetQueueUrlCommand({ QueueName: 'work' })),
  s3: ({ s3 }) => s3.send(new GetObjectCommand({ Bucket: 'files-bucket', Key: 'a' })),
  ssm: ({ ssm }) => ssm.send(new GetParameterCommand({ Name: '/app/a' })),
  lambda: ({ lambda }) => lambda.send(new InvokeCommand({ FunctionName: 'app-step' })),
};

const listTables = {
  path: '/',
  service: 'dynamodb',
  headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'DynamoDB_20120810.ListTables' },
  body: '{}',
};

const send = async (request: { url: string; init: RequestInit }): Promise<{ status: number; text: string }> => {
  const response = await fetch(request.url, request.init);
  return { status: response.status, text: await response.text() };
};

describe('who may not come in', () => {
  it.each([
    ['dynamodb', 'InvalidSignatureException', 400],
    ['sqs', 'SignatureDoesNotMatch', 403],
    ['s3', 'SignatureDoesNotMatch', 403],
    ['ssm', 'InvalidSignatureException', 400],
    ['lambda', 'InvalidSignatureException', 403],
  ])('%s refuses a wrong secret with %s', async (service, name, status) => {
    const clients = cloud.clients({ ...OPERATOR, secretAccessKey: 'wrong' });
    const error = await errorOf(calls[service]?.(clients) ?? Promise.resolve());
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual([name, status]);
    expect(error.message).toContain('does not match the signature you provided');
  });

  it.each([
    ['dynamodb', 'UnrecognizedClientException'],
    ['sqs', 'InvalidClientTokenId'],
    ['s3', 'InvalidAccessKeyId'],
    ['ssm', 'UnrecognizedClientException'],
    ['lambda', 'UnrecognizedClientException'],
  ])('%s refuses an unknown key with %s', async (service, name) => {
    const clients = cloud.clients({ accessKeyId: 'AKIANOBODY', secretAccessKey: 'x' });
    expect((await errorOf(calls[service]?.(clients) ?? Promise.resolve())).name).toBe(name);
  });

  it('a request without any signature', async () => {
    const { status, text } = await send({
      url: cloud.url,
      init: { method: 'POST', headers: listTables.headers, body: '{}' },
    });
    expect([status, JSON.parse(text).__type]).toEqual([
      400,
      'com.amazon.coral.service#MissingAuthenticationTokenException',
    ]);
    const s3 = await send({ url: `${cloud.url}/files-bucket/a`, init: {} });
    expect(s3.status).toBe(403);
    expect(s3.text).toContain('<Code>AccessDenied</Code>');
  });

  it.each([
    ['old', -6 * 60_000, 'Signature expired'],
    ['from the future', 6 * 60_000, 'Signature not yet current'],
  ])('a signature that is %s', async (_name, offset, sentence) => {
    const at = new Date(Date.now() + offset);
    const { status, text } = await send(await signedRequest(cloud.url, OPERATOR, { ...listTables, at }));
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      __type: expect.stringContaining('#InvalidSignatureException'),
      message: expect.stringContaining(sentence),
    });
  });

  it('four minutes of skew are let through', async () => {
    const at = new Date(Date.now() - 4 * 60_000);
    expect((await send(await signedRequest(cloud.url, OPERATOR, { ...listTables, at }))).status).toBe(200);
  });

  it('a body changed after signing', async () => {
    const { url, init } = await signedRequest(cloud.url, OPERATOR, listTables);
    const { text } = await send({ url, init: { ...init, body: '{"Limit":1}' } });
    expect(JSON.parse(text).__type).toContain('InvalidSignatureException');
  });

  it('a header put in after signing', async () => {
    const { url, init } = await signedRequest(cloud.url, OPERATOR, { ...listTables, headers: {} });
    const { text } = await send({ url, init: { ...init, headers: { ...init.headers, ...listTables.headers } } });
    expect(JSON.parse(text).message).toContain("not signed: 'x-amz-target'");
  });

  it('a signature for another region or another service', async () => {
    const region = await send(await signedRequest(cloud.url, OPERATOR, { ...listTables, region: 'eu-west-1' }));
    expect(JSON.parse(region.text).message).toContain("not 'eu-west-1'");
    const service = await send(await signedRequest(cloud.url, OPERATOR, { ...listTables, service: 'sqs' }));
    expect(service.status).toBe(400);
    expect(JSON.parse(service.text).__type).toContain('UnknownOperationException');
    const unknown = await send(await signedRequest(cloud.url, OPERATOR, { ...listTables, service: 'kinesis' }));
    expect(JSON.parse(unknown.text).message).toContain("no service 'kinesis'");
  });

  it('a malformed Authorization header', async () => {
    const { url, init } = await signedRequest(cloud.url, OPERATOR, listTables);
    const { text } = await send({
      url,
      init: { ...init, headers: { ...init.headers, authorization: 'AWS4-HMAC-SHA256 nonsense' } },
    });
    expect(JSON.parse(text).__type).toContain('IncompleteSignatureException');
  });
});

describe('presigned URLs', () => {
  const object = { path: '/files-bucket/presigned.txt', service: 's3' };

  it('write and read, with a header of the answer chosen by the URL', async () => {
    const put = await presignedUrl(cloud.url, OPERATOR, { ...object, method: 'PUT', expiresIn: 60 });
    expect((await send({ url: put, init: { method: 'PUT', body: 'hello' } })).status).toBe(200);
    const query = { 'response-content-disposition': 'attachment; filename="a b.txt"' };
    const get = await presignedUrl(cloud.url, OPERATOR, { ...object, method: 'GET', query, expiresIn: 60 });
    const response = await fetch(get);
    expect(await response.text()).toBe('hello');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="a b.txt"');
  });

  it('are refused when they have expired, however long their life was', async () => {
    const at = new Date(Date.now() - 120_000);
    const url = await presignedUrl(cloud.url, OPERATOR, { ...object, method: 'GET', expiresIn: 60, at });
    const { status, text } = await send({ url, init: {} });
    expect(status).toBe(403);
    expect(text).toContain('Request has expired');
    const alive = await presignedUrl(cloud.url, OPERATOR, { ...object, method: 'HEAD', expiresIn: 3600, at });
    expect((await send({ url: alive, init: { method: 'HEAD' } })).status).toBe(200);
  });

  it.each([
    ['another object', (url: string) => url.replace('presigned.txt', 'other.txt')],
    ['a longer life', (url: string) => url.replace('X-Amz-Expires=60', 'X-Amz-Expires=6000')],
    ['another answer', (url: string) => `${url}&response-content-type=text%2Fhtml`],
  ])('are refused when changed to %s', async (_name, change) => {
    const url = await presignedUrl(cloud.url, OPERATOR, { ...object, method: 'GET', expiresIn: 60 });
    const { status, text } = await send({ url: change(url), init: {} });
    expect([status, /<Code>(\w+)</.exec(text)?.[1]]).toEqual([403, 'SignatureDoesNotMatch']);
  });

  it('bind the body to a checksum in the URL', async () => {
    const query = { 'x-amz-checksum-crc32': 'AAAAAA==' };
    const url = await presignedUrl(cloud.url, OPERATOR, { ...object, method: 'PUT', query, expiresIn: 60 });
    expect((await send({ url, init: { method: 'PUT', body: '' } })).status).toBe(200);
    const { status, text } = await send({ url, init: { method: 'PUT', body: 'other' } });
    expect([status, /<Code>(\w+)</.exec(text)?.[1]]).toEqual([400, 'BadDigest']);
  });

  it('are refused for another method and for a life over seven days', async () => {
    const url = await presignedUrl(cloud.url, OPERATOR, { ...object, method: 'GET', expiresIn: 60 });
    expect((await send({ url, init: { method: 'DELETE' } })).status).toBe(403);
    const long = (await presignedUrl(cloud.url, OPERATOR, { ...object, method: 'GET', expiresIn: 604_800 })).replace(
      'X-Amz-Expires=604800',
      'X-Amz-Expires=604801',
    );
    expect((await send({ url: long, init: {} })).text).toContain('X-Amz-Expires must be');
  });
});

describe('streamed bodies', () => {
  it('a stream of unknown length arrives whole, its trailing checksum verified', async () => {
    const { s3 } = cloud.clients();
    const content = Buffer.alloc(300_000, 'abc');
    const parts = [content.subarray(0, 100_000), content.subarray(100_000)];
    const Key = 'streamed';
    const ContentLength = content.length;
    await s3.send(new PutObjectCommand({ Bucket: 'files-bucket', Key, Body: Readable.from(parts), ContentLength }));
    const got = await s3.send(new GetObjectCommand({ Bucket: 'files-bucket', Key }));
    expect(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(content)).toBe(true);
    expect(got.ContentEncoding).toBeUndefined();
  });

  /** A PUT in signed chunks, made by hand after the description of the protocol. */
  const chunked = async (tamper: (body: string) => string): Promise<{ status: number; text: string }> => {
    const chunks = ['first chunk,', 'second chunk'];
    const mode = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER';
    const length = String(chunks.join('').length);
    const { url, init } = await signedRequest(cloud.url, OPERATOR, {
      method: 'PUT',
      path: '/files-bucket/chunked',
      service: 's3',
      headers: {
        'x-amz-content-sha256': mode,
        'x-amz-decoded-content-length': length,
        'content-encoding': 'aws-chunked',
      },
    });
    const headers = init.headers as { [name: string]: string };
    const date = headers['x-amz-date'] ?? '';
    const scope = `${date.slice(0, 8)}/us-east-1/s3/aws4_request`;
    const key = ['us-east-1', 's3', 'aws4_request'].reduce(
      hmac,
      hmac(`AWS4${OPERATOR.secretAccessKey}`, date.slice(0, 8)),
    );
    let previous = /Signature=(\w+)/.exec(headers.authorization ?? '')?.[1] ?? '';
    const sign = (kind: string, ...hashes: string[]): string => {
      previous = hmac(key, [kind, date, scope, previous, ...hashes].join('\n')).toString('hex');
      return previous;
    };
    const frames = [...chunks, ''].map((chunk) => {
      const signature = sign('AWS4-HMAC-SHA256-PAYLOAD', sha256Hex(''), sha256Hex(chunk));
      const frame = `${chunk.length.toString(16)};chunk-signature=${signature}\r\n`;
      return chunk === '' ? frame : `${frame}${chunk}\r\n`;
    });
    const trailer = 'x-amz-meta-note:hi';
    const end = `${trailer}\r\nx-amz-trailer-signature:${sign('AWS4-HMAC-SHA256-TRAILER', sha256Hex(`${trailer}\n`))}\r\n\r\n`;
    return send({ url, init: { ...init, body: tamper(frames.join('') + end) } });
  };

  it('signed chunks are put together', async () => {
    expect((await chunked((body) => body)).status).toBe(200);
    const got = await cloud.clients().s3.send(new GetObjectCommand({ Bucket: 'files-bucket', Key: 'chunked' }));
    expect(await got.Body?.transformToString()).toBe('first chunk,second chunk');
  });

  it.each([
    ['a chunk', (body: string) => body.replace('second', 'SECOND'), 'SignatureDoesNotMatch'],
    ['the trailer', (body: string) => body.replace('note:hi', 'note:ho'), 'SignatureDoesNotMatch'],
    ['the framing', (body: string) => body.slice(0, 100), 'XAmzContentSHA256Mismatch'],
  ])('a change to %s is found', async (_name, tamper, code) => {
    const { status, text } = await chunked(tamper);
    expect(/<Code>(\w+)</.exec(text)?.[1]).toBe(code);
    expect(status).toBeGreaterThanOrEqual(400);
  });

  it('a wrong checksum is found', async () => {
    const request = await signedRequest(cloud.url, OPERATOR, {
      method: 'PUT',
      path: '/files-bucket/sum',
      service: 's3',
      headers: { 'x-amz-checksum-crc32': 'AAAAAA==' },
      body: 'content',
    });
    const { status, text } = await send(request);
    expect(status).toBe(400);
    expect(text).toContain('<Code>BadDigest</Code>');
  });
});

describe('rough clients', () => {
  it('a reset in the middle of a body, garbage and too large a body leave the gateway standing', async () => {
    const port = Number(new URL(cloud.url).port);
    for (const text of ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc', 'garbage\r\n\r\n']) {
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(text, () => socket.resetAndDestroy()));
        socket.on('close', () => resolve());
        socket.on('error', () => {});
      });
    }
    const huge = await signedRequest(cloud.url, OPERATOR, {
      method: 'PUT',
      path: '/files-bucket/huge',
      service: 's3',
      body: Buffer.alloc(13 * 1024 * 1024),
    });
    const answer = await send(huge);
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('EntityTooLarge');
    expect((await send(await signedRequest(cloud.url, OPERATOR, listTables))).status).toBe(200);
  });

  it('an object of 10 MB goes through', async () => {
    const { s3 } = cloud.clients();
    await s3.send(
      new PutObjectCommand({ Bucket: 'files-bucket', Key: 'big', Body: Buffer.alloc(10 * 1024 * 1024, 'x') }),
    );
    const got = await s3.send(new GetObjectCommand({ Bucket: 'files-bucket', Key: 'big' }));
    expect((await got.Body?.transformToByteArray())?.length).toBe(10 * 1024 * 1024);
  });

  it('bodies that are not JSON objects', async () => {
    for (const body of ['{', '[1]', '"x"', Buffer.from([0x7b, 0xff, 0x7d])]) {
      const { status, text } = await send(await signedRequest(cloud.url, OPERATOR, { ...listTables, body }));
      expect([status, JSON.parse(text).__type]).toEqual([400, 'com.amazon.coral.service#SerializationException']);
    }
  });
});

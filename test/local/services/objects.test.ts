import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clients, type Cloud, errorOf, startCloud } from '../gateway/cloud.ts';

const Bucket = 'files-bucket';
let cloud: Cloud;
let s3: Clients['s3'];
beforeAll(async () => {
  cloud = await startCloud();
  ({ s3 } = cloud.clients());
});
afterAll(() => cloud.remove());

const put = (Key: string, Body: string, more: { [name: string]: unknown } = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const read = async (Key: string) => (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();

describe('objects', () => {
  it.each([
    ['IfNoneMatch', '*'],
    ['IfMatch', '"abc"'],
  ])('a write with %s is refused, not passed over', async (name, value) => {
    await put('conditional', 'first');
    const error = await errorOf(put('conditional', 'second', { [name]: value }));
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['NotImplemented', 501]);
    expect(await read('conditional')).toBe('first');
  });

  it('a read under a condition works', async () => {
    const { ETag } = await put('etag', 'x');
    const error = await errorOf(s3.send(new GetObjectCommand({ Bucket, Key: 'etag', IfNoneMatch: ETag })));
    expect(error.$metadata?.httpStatusCode).toBe(304);
  });

  it('what is not there has the names that the SDK knows', async () => {
    expect((await errorOf(read('nope'))).name).toBe('NoSuchKey');
    expect((await errorOf(s3.send(new HeadObjectCommand({ Bucket, Key: 'nope' })))).name).toBe('NotFound');
    expect((await errorOf(s3.send(new GetObjectCommand({ Bucket: 'no-bucket', Key: 'a' })))).name).toBe('NoSuchBucket');
  });

  it('metadata, ranges and listings', async () => {
    await put('list/a', '0123456789', { ContentType: 'text/plain', Metadata: { who: 'me' } });
    await put('list/b', '');
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'list/a' }));
    expect([head.ContentLength, head.ContentType, head.Metadata]).toEqual([10, 'text/plain', { who: 'me' }]);
    const part = await s3.send(new GetObjectCommand({ Bucket, Key: 'list/a', Range: 'bytes=2-4' }));
    expect(await part.Body?.transformToString()).toBe('234');
    const page = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'list/', MaxKeys: 1 }));
    expect([page.IsTruncated, page.Contents?.[0]?.Key]).toEqual([true, 'list/a']);
    expect(await read('list/b')).toBe('');
  });

  it('several are deleted at once, whatever their names', async () => {
    const names = ['del/a&b', 'del/<x>', "del/'q'", 'del/ünï code'];
    for (const name of names) await put(name, 'x');
    const Objects = names.map((Key) => ({ Key }));
    const answer = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(answer.Deleted?.map(({ Key }) => Key)).toEqual(names);
    const left = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'del/' }));
    expect(left.KeyCount).toBe(0);
  });

  it('an upload in parts', async () => {
    const Key = 'parts';
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const bodies = ['x'.repeat(5 * 1024 * 1024), 'end'];
    const Parts = [];
    for (const [i, Body] of bodies.entries()) {
      const PartNumber = i + 1;
      const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
      Parts.push({ ETag, PartNumber });
    }
    await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    expect((await read(Key))?.slice(-6)).toBe('xxxend');
  });

  it('an operation that is not there says so', async () => {
    const error = await errorOf(s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'etag' })));
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['NotImplemented', 501]);
  });
});

describe('a start on the same home', () => {
  it('keeps the objects', async () => {
    const first = await startCloud();
    await first.clients().s3.send(new PutObjectCommand({ Bucket, Key: 'kept/ü', Body: 'content' }));
    await first.stop();
    const second = await startCloud({ home: first.home });
    const got = await second.clients().s3.send(new GetObjectCommand({ Bucket, Key: 'kept/ü' }));
    expect(await got.Body?.transformToString()).toBe('content');
    await second.remove();
  });
});

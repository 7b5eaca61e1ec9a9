import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Blobs } from '../kernel/ports.ts';

/**
 * The blobs port over one S3 bucket. Reads are strongly consistent after a write. Keys are at most 1,024 bytes.
 *
 * S3 says 404 for a missing object only to a role that may list the bucket; to any other it says AccessDenied, which is
 * passed on. So a role that reads needs `s3:ListBucket` on the bucket beside `s3:GetObject` on its objects.
 */
export const makeBlobs = (options: { readonly client: S3Client; readonly bucket: string }): Blobs => {
  const { client, bucket: Bucket } = options;
  return {
    async put(Key, Body, ContentType) {
      if (Key === '') throw new TypeError('The key of an object is empty.');
      await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType }));
    },
    async get(Key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        return await Body?.transformToByteArray();
      } catch (error) {
        if (error instanceof Error && error.name === 'NoSuchKey') return undefined;
        throw error;
      }
    },
  };
};

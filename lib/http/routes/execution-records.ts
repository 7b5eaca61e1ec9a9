import * as z from 'zod';
import { AppError, notFound } from '../../kernel/errors.ts';
import { defineRoute, type RawBody, type Route } from '../define-route.ts';
import { feedRowView, fileView, stepView } from '../execution-views.ts';
import { feedCursor, feedPosition, followFeed } from '../follow-feed.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';

/** A function answers at most 6 MB, and base64 makes four bytes of three. */
const LARGEST_FILE = 4_500_000;

const TEXT = /\.(txt|md|csv|tsv|log|html?|css|xml|ya?ml|js|ts|py|sh|sql)$/i;

const contentTypeOf = (path: string): string => {
  if (/\.json$/i.test(path)) return 'application/json';
  return TEXT.test(path) ? 'text/plain; charset=utf-8' : 'application/octet-stream';
};

const download = (path: string, bytes: Uint8Array): RawBody => {
  if (bytes.byteLength > LARGEST_FILE) {
    const message = `The file has ${bytes.byteLength} bytes; at most ${LARGEST_FILE} fit into an answer.`;
    throw new AppError(413, 'file_too_large', message, { bytes: bytes.byteLength });
  }
  return { bytes, contentType: contentTypeOf(path), fileName: path.split('/').at(-1) ?? path };
};

const seconds = z.coerce.number().pipe(z.number().min(0).max(20)).default(0);

/** What an execution leaves behind: feed, steps and files. */
export const executionRecordRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/executions/{executionId}/feed',
    operationId: 'readFeed',
    summary: 'Read the feed in order. nextCursor is always given: pass it as after to follow.',
    tag: 'Executions',
    scope: 'read',
    query: z.strictObject({
      after: z.string().optional().describe('A nextCursor of this feed.'),
      limit: pageQuery.limit,
      wait: seconds.describe('Long poll: seconds to wait for a row.'),
    }),
    responses: { 200: z.object({ items: z.array(feedRowView), nextCursor: z.string() }) },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { executionId }, query, remainingMs }) => {
      const at = { orgId, executionId };
      const after = feedPosition(at, query.after);
      const follow = { after, limit: query.limit, waitMs: query.wait * 1_000, remainingMs };
      const { items } = await followFeed(deps, at, follow);
      return { body: { items, nextCursor: feedCursor(at, after, items) } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/executions/{executionId}/steps',
    operationId: 'listSteps',
    summary: 'What happened in each step: times, tokens, cost, attempts, what the model was sent, tool calls.',
    tag: 'Executions',
    scope: 'read',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(stepView) },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { executionId }, page }) => {
      const at = page(`steps/${executionId}`);
      return { body: listBody(at, await deps.executions.steps({ orgId, executionId }, at)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/executions/{executionId}/files',
    operationId: 'listFiles',
    summary: 'List the files of an execution by path.',
    tag: 'Executions',
    scope: 'read',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(fileView) },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { executionId }, page }) => {
      const at = page(`files/${executionId}`);
      return { body: listBody(at, await deps.executions.listFiles({ orgId, executionId }, at)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/executions/{executionId}/files/{path+}',
    operationId: 'readFile',
    summary: 'Download a file as it is.',
    tag: 'Executions',
    scope: 'read',
    responses: { 200: 'raw' },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { executionId, path } }) => {
      const bytes = await deps.executions.readFile({ orgId, executionId }, path);
      if (bytes === undefined) throw notFound('file');
      return { raw: download(path, bytes) };
    },
  }),
];

import * as z from 'zod';
import type { Item } from '../../kernel/table.ts';
import { readRow } from '../../tenancy/row.ts';

export const SOURCE_KINDS = ['github', 'lark', 'slack', 'http'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

const repositorySchema = z.object({ id: z.string(), fullName: z.string() });

/** A place where events come from and replies go to. What is secret stands in a document of its own (`secretRef`). */
const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  kind: z.enum(SOURCE_KINDS),
  name: z.string(),
  state: z.enum(['active', 'paused', 'suspended', 'gone']),
  /** Why it is not active, for people. */
  reason: z.string().optional(),
  /** Who we are there: GitHub's numeric user id as text, Lark's open_id, Slack's user id. None: an `http` source. */
  self: z.object({ id: z.string(), login: z.string().optional(), appId: z.string().optional() }).optional(),
  /** Missing: every repository that the installation shows. */
  repositories: z.array(repositorySchema).optional(),
  installationId: z.string().optional(),
  appId: z.string().optional(),
  /** How it signs in: `token` sources cannot mint narrower tokens. */
  signsInBy: z.enum(['app', 'token', 'none']),
  apiBaseUrl: z.string().optional(),
  replyUrl: z.string().optional(),
  /** Of the newest that the provider has told of `state`, ms since the epoch: what is older changes nothing. */
  toldAt: z.number().optional(),
  /** When the provider stopped it; the time of its attention item. */
  stoppedAt: z.number().optional(),
  /** Which document of secrets counts. */
  secretRef: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  createdBy: z.string().optional(),
});
export type Source = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readSource = (item: Item): Source => readRow(rowSchema, item);

/** The document of secrets of one source, JSON in a SecureString. Lists of signing secrets make rotation possible. */
export const sourceSecretsSchema = z.object({
  signing: z.array(z.string()).max(5),
  privateKey: z.string().optional(),
  token: z.string().optional(),
});
export type SourceSecrets = z.infer<typeof sourceSecretsSchema>;

import * as z from 'zod';
import type { ConfigEntries } from '../agent/config-keys.ts';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Item } from '../kernel/table.ts';
import { makeRow, readRow } from '../tenancy/row.ts';
import { type WorkflowDefinition, workflowDefinitionSchema } from '../workflow/definition.ts';

/** What makes an agent, without the agent: its configuration and the name of its workflow. */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly workflow: string;
  /** The workflow itself, where it is not a built-in one: a template must work in another organisation too. */
  readonly definition?: WorkflowDefinition | undefined;
  readonly config: ConfigEntries;
  readonly createdAt: string;
  /** Id of the key that made it. */
  readonly createdBy: string;
}

const badgeSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  workflow: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
});
/** A template as lists show it. */
export type TemplateBadge = z.output<typeof badgeSchema>;

/** Configuration and definition are JSON text: what is given comes back exactly, however deep. */
const rowSchema = badgeSchema.extend({ config: z.string(), definition: z.string().optional() });

export const templateItem = (orgId: string, { config, definition, ...badge }: Template): Item =>
  makeRow(keys.template(orgId, badge.id), {
    ...badge,
    config: JSON.stringify(config),
    definition: definition && JSON.stringify(definition),
  });

/** @throws UnreadableRow */
export const readTemplate = (item: Item): Template => {
  const { config, definition, ...badge } = readRow(rowSchema, item);
  const parts = contents.safeParse({ config: json(item, config), definition: definition && json(item, definition) });
  if (!parts.success) throw new UnreadableRow(item, 'what it holds does not fit its schema.', parts.error);
  return { ...badge, ...parts.data };
};

export const readTemplateBadge = (item: Item): TemplateBadge => badgeSchema.parse(readRow(rowSchema, item));

const contents = z.object({
  config: z.record(z.string(), z.unknown()),
  definition: workflowDefinitionSchema.optional(),
});

const json = (item: Item, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableRow(item, 'what it holds is not JSON.', error);
  }
};

import type { WebhookDeps } from '../webhook/deps.ts';
import { clock, log, once, table, webhooks } from './core.ts';
import { guardedFetch, judgeWebhookUrl } from './egress.ts';
import { secrets } from './models.ts';

export const webhookDeps = once(
  (): WebhookDeps => ({
    table: table(),
    clock,
    log,
    secrets: secrets(),
    webhooks: webhooks(),
    random: Math.random,
    judgeUrl: judgeWebhookUrl,
    fetch: guardedFetch(),
  }),
);

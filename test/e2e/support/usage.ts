export interface Grant {
  readonly role: string;
  readonly action: string;
  readonly resources: readonly string[];
}

/** Grants that a run of the tests cannot show in use, and why the functions need them all the same. */
const EXPLAINED: readonly { readonly grant: RegExp; readonly why: string }[] = [
  {
    grant: /^(Api|Step|Resolve) s3:ListBucket /,
    why: 'It is asked for only where an object is missing, and then decides between "missing" and "denied".',
  },
  {
    grant: /^(Step|Effect|Fire|DeadLetter|Resolve|Assess) sqs:GetQueueAttributes /,
    why: 'Lambda demands it of the role of an event source mapping; the local poller does not ask.',
  },
  {
    grant: /^Effect sqs:ChangeMessageVisibility /,
    why: 'Used when the bus refuses an event, which the local bus does not.',
  },
  {
    grant: /^Fire (sqs:ChangeMessageVisibility|dynamodb:UpdateItem) /,
    why: 'Used when a run cannot be started for want of the table or a queue, and when what was queued is asked for in vain.',
  },
  {
    grant: /^(DeadLetter|Tick) sqs:SendMessage .*fires/i,
    why: 'Used when a scheduled run ends by its dead letter, and when an occurrence is to come (test/e2e/schedules.test.ts).',
  },
  {
    grant: /^Tick (dynamodb:(PutItem|DeleteItem) |sqs:SendMessage .*effects)/i,
    why: 'Used when a permission expires (test/e2e/attention.test.ts).',
  },
  {
    grant: /^Effect dynamodb:ConditionCheckItem /,
    why: 'Used while the gate of a webhook is open, which closes after ten failures (test/e2e/webhooks.test.ts).',
  },
  {
    grant: /^(Effect|DeadLetter) dynamodb:DeleteItem /,
    why: 'Used when what they do ends a stop that a person was told of, or a webhook is switched off.',
  },
  {
    grant: /^Sweep dynamodb:PutItem /,
    why: 'Used where the place of a worker was not given back for an hour (test/router/ticket/slots.test.ts).',
  },
  {
    grant: /^(Resolve|Assess) s3:PutObject .*parked/,
    why: 'Used for a message that nobody can read.',
  },
  {
    grant: /^Resolve (sqs:ChangeMessageVisibility|dynamodb:ConditionCheckItem|ssm:GetParameter) /,
    why: 'Used when the provider is away, for a message in the midst of a turn, and for a revival, which needs a price.',
  },
  {
    grant: /^Assess sqs:SendMessage \S+baton-dev-assess$/,
    why: 'Used where a Thread waits for its model or is handed over after many batches.',
  },
];

/** Grants of the Router's functions, and those of others that only the Router's work uses. */
const ROUTERS = /^(Ingest|Resolve|Assess) |^(Step|Effect) dynamodb:Query .*index\/byOwner|^Step dynamodb:BatchGetItem /;

/**
 * `Role action resource` of grants that were never used and that nothing explains.
 * @param part of the work that the run has done
 */
export const unexplained = (neverUsed: readonly Grant[], part: 'engine' | 'router'): readonly string[] =>
  neverUsed
    .map(({ role, action, resources }) => `${role.replace(/Role[0-9A-F]{8}$/, '')} ${action} ${resources.join(' ')}`)
    .filter((text) => ROUTERS.test(text) === (part === 'router'))
    .filter((text) => !EXPLAINED.some(({ grant }) => grant.test(text)));

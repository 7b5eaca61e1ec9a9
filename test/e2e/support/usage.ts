export interface Grant {
  readonly role: string;
  readonly action: string;
  readonly resources: readonly string[];
}

/** Grants that a run of the tests cannot show in use, and why the functions need them all the same. */
const EXPLAINED: readonly { readonly grant: RegExp; readonly why: string }[] = [
  {
    grant: /^(Api|Step) s3:ListBucket /,
    why: 'It is asked for only where an object is missing, and then decides between "missing" and "denied".',
  },
  {
    grant: /^(Step|Effect|Fire|DeadLetter) sqs:GetQueueAttributes /,
    why: 'Lambda demands it of the role of an event source mapping; the local poller does not ask.',
  },
  {
    grant: /^Effect sqs:ChangeMessageVisibility /,
    why: 'Used when the bus refuses an event, which the local bus does not.',
  },
  {
    grant: /^Fire sqs:ChangeMessageVisibility /,
    why: 'Used when a run cannot be started for want of the table or a queue.',
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
];

/** `Role action resource` of grants that were never used and that nothing explains. */
export const unexplained = (neverUsed: readonly Grant[]): readonly string[] =>
  neverUsed
    .map(({ role, action, resources }) => `${role.replace(/Role[0-9A-F]{8}$/, '')} ${action} ${resources.join(' ')}`)
    .filter((text) => !EXPLAINED.some(({ grant }) => grant.test(text)));

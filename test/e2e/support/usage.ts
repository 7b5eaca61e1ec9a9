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
    grant: /^(Step|Effect|DeadLetter) sqs:GetQueueAttributes /,
    why: 'Lambda demands it of the role of an event source mapping; the local poller does not ask.',
  },
  {
    grant: /^Effect sqs:ChangeMessageVisibility /,
    why: 'Used when the bus refuses an event, which the local bus does not.',
  },
];

/** `Role action resource` of grants that were never used and that nothing explains. */
export const unexplained = (neverUsed: readonly Grant[]): readonly string[] =>
  neverUsed
    .map(({ role, action, resources }) => `${role.replace(/Role[0-9A-F]{8}$/, '')} ${action} ${resources.join(' ')}`)
    .filter((text) => !EXPLAINED.some(({ grant }) => grant.test(text)));

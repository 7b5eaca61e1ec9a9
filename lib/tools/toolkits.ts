/** Tools in groups, as people look for them. */
export interface Toolkit {
  readonly name: string;
  readonly description: string;
  /** Names of its tools. */
  readonly tools: readonly string[];
}

/** Every tool is in one of them. */
export const TOOLKITS: readonly Toolkit[] = [
  {
    name: 'file',
    description: 'Files of the run.',
    tools: ['write_file', 'append_file', 'read_file', 'list_files', 'delete_file'],
  },
  { name: 'web', description: 'Requests to other servers.', tools: ['http_request'] },
  { name: 'thinking', description: 'Thoughts that stay in the feed.', tools: ['think'] },
  { name: 'people', description: 'Questions to a person.', tools: ['ask_user'] },
  { name: 'control', description: 'The course of the run itself.', tools: ['finish', 'wait', 'run_agent'] },
];

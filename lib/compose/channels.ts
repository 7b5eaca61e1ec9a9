import { githubChannel } from '../channel/github/channel.ts';
import { httpChannel } from '../channel/http/channel.ts';
import type { Channels } from '../router/channel.ts';
import type { Source } from '../router/source/source.ts';

/** The kinds of sources that can be made. */
export const channels: Channels = { github: githubChannel, http: httpChannel };

/** Whether a text names us in a source. */
export const namesUs = (text: string, source: Source): boolean => channels[source.kind]?.names(text, source) ?? false;

import { afterMentions, spoken } from './mentions.ts';

/** The word, perhaps with a "please" before it; "stopping" and "stop-words" are others. Chinese needs no blank behind it. */
const STOP =
  /^[\s,.:;!，。：；！、—–-]*(?:(?:please|pls|请)[\s,，]*)?(?:stop(?![\p{Script=Latin}\p{N}\p{M}_-])|停止)/iu;

/** Mentions as chats write them, one or several, at the beginning of a message. */
const LEADING_MENTIONS = /^(?:[\s,:，：]*(?:<@[^>\s]{1,200}>|<at\b[^>]{0,200}>[^<]{0,200}<\/at>|@[^\s,:，：]{1,200}))+/;

/**
 * Whether a text that names us says stop: the first words behind the mention. Whatever follows does not soften it, so that
 * people can rely on it.
 * @param login as mentions have it. Without one (chats have ids) the beginning of the message counts, mentions aside
 */
export const saysStop = (text: string, login: string | undefined): boolean =>
  login === undefined
    ? STOP.test(spoken(text).text.replace(LEADING_MENTIONS, ' '))
    : afterMentions(text, login).some((rest) => STOP.test(rest));

/** Answers by mail carry what they answer to. Where that is marked by `>` it is a quote of Markdown; the rest is cut here. */

const SEPARATOR =
  /^[ \t]*-{2,}[ \t]*(?:original message|forwarded message|original appointment|urspr.ngliche nachricht|message d'origine|mensaje original|原始邮件|转发的邮件|回复的原邮件)[ \t]*-{2,}[ \t]*$/i;
const WROTE =
  /^[ \t]*(?:on\b.{4,300}\bwrote|am\b.{4,300}\bschrieb\b.{0,200}|le\b.{4,300}\ba écrit[ \t]*|在.{2,300}写道|.{2,300}于.{2,300}写道)[ \t]*[:：][ \t]*$/i;
const FROM = /^[ \t]*[*_]{0,2}(?:from|von|de|发件人)[*_]{0,2}[ \t]*[:：][*_]{0,2}[ \t]*\S/i;
const FURTHER =
  /^[ \t]*[*_]{0,2}(?:sent|date|to|subject|gesendet|an|betreff|envoyé|à|objet|发送时间|日期|收件人|主题)[*_]{0,2}[ \t]*[:：]/i;

/** Where an answer's own words end, as an index into its lines; the number of lines when nothing is quoted. */
const endOf = (lines: readonly string[]): number => {
  const found = lines.findIndex((line, index) => {
    if (SEPARATOR.test(line)) return true;
    // Some programs break the line: "On Monday, Ada <ada@example.org>" / "wrote:".
    if (WROTE.test(line) || (line.length < 300 && WROTE.test(`${line.trimEnd()} ${lines[index + 1] ?? ''}`))) {
      const after = lines.slice(index + 1, index + 5).find((next) => next.trim() !== '' && !/wrote:\s*$/i.test(next));
      // A quote that is marked as such can be followed by an answer below it.
      return after !== undefined && !after.trimStart().startsWith('>');
    }
    return FROM.test(line) && lines.slice(index + 1, index + 5).filter((next) => FURTHER.test(next)).length >= 2;
  });
  return found === -1 ? lines.length : found;
};

/** The text without mail that is quoted below it and not marked as a quote. */
export const withoutQuotedMail = (text: string): string => {
  const lines = text.split('\n');
  const end = endOf(lines.map((line) => line.slice(0, 700)));
  return end === lines.length ? text : lines.slice(0, end).join('\n');
};

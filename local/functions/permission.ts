import type { Assembly } from '../template/assembly.ts';

export type Invoker = 'apigateway.amazonaws.com' | 'events.amazonaws.com';

/**
 * May this service invoke this function, for this source? Judged from `AWS::Lambda::Permission` alone, as on AWS: a
 * missing permission is the usual reason why a deployed route answers 500.
 */
export const mayInvoke = (assembly: Assembly, functionArn: string, principal: Invoker, sourceArn: string): boolean =>
  assembly.permissions.some(
    (permission) =>
      permission.functionArn === functionArn &&
      permission.principal === principal &&
      (permission.sourceArn === undefined || like(permission.sourceArn, sourceArn)),
  );

/** ARN pattern: `*` stands for any text, `?` for any one character. */
const like = (pattern: string, text: string): boolean => {
  const source = pattern
    .split('')
    .map((character) =>
      character === '*' ? '.*' : character === '?' ? '.' : character.replace(/[\\^$.|+()[\]{}]/g, '\\$&'),
    )
    .join('');
  return new RegExp(`^${source}$`, 's').test(text);
};

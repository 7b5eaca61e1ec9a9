import * as fc from 'fast-check';

/** `fc.assert` of a property without promises; typed so that nobody looks for one to await. */
export const always = <T>(property: fc.IProperty<T>, parameters?: fc.Parameters<T>): void =>
  fc.assert(property, parameters);

/** Fixed width, so that text order is number order. Steps stay below 10^9 and rows of a step below 10^4. */
export const padded = (value: number, width: number): string => String(value).padStart(width, '0');

/** How every key of a tenant begins. */
export const org = (orgId: string): string => `ORG#${orgId}`;

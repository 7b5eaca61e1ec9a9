/** What the parts of the local cloud agree on among themselves. */
export const LOCAL = { region: 'us-east-1', account: '000000000000', partition: 'aws' } as const;

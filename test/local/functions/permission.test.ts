import { expect, test } from 'vitest';
import { mayInvoke } from '../../../local/functions/permission.ts';
import { fixtureAssembly } from '../fixtures/assembly.ts';

const API = 'arn:aws:execute-api:us-east-1:000000000000:api1';
const assembly = fixtureAssembly({
  permissions: [
    { functionArn: 'f', principal: 'apigateway.amazonaws.com', sourceArn: `${API}/*/*/v1.0/{proxy+}` },
    { functionArn: 'g', principal: 'events.amazonaws.com', sourceArn: undefined },
  ],
});

test.each([
  ['f', 'apigateway.amazonaws.com', `${API}/$default/GET/v1.0/{proxy+}`, true],
  ['f', 'apigateway.amazonaws.com', `${API}/$default/GET/v1x0/{proxy+}`, false],
  ['f', 'apigateway.amazonaws.com', `${API}/$default/GET/v1.0/{proxy+}/more`, false],
  ['f', 'apigateway.amazonaws.com', `${API.replace('api1', 'api2')}/$default/GET/v1.0/{proxy+}`, false],
  ['f', 'events.amazonaws.com', `${API}/$default/GET/v1.0/{proxy+}`, false],
  ['g', 'events.amazonaws.com', 'arn:anything', true],
  ['h', 'events.amazonaws.com', 'arn:anything', false],
] as const)('%s by %s for %s: %s', (functionArn, principal, sourceArn, allowed) => {
  expect(mayInvoke(assembly, functionArn, principal, sourceArn)).toBe(allowed);
});

/** The CDK app: `node cdk/app.ts`, or through the CDK's command line. `-c stage=NAME` picks the stage. */
import { resolve } from 'node:path';
import { bundle } from './bundle.ts';
import { createApp } from './create-app.ts';

const root = resolve(import.meta.dirname, '..');
const { folders } = await bundle({ root, out: resolve(root, 'node_modules/.cache/baton/bundles') });
createApp({ code: folders, outdir: process.env.CDK_OUTDIR ?? resolve(root, 'cdk.out') }).synth();

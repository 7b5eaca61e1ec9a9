import { type Cloud, type Environment, startCloud } from './cloud.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { type Sink, startSink } from './sink.ts';

/** A local cloud between a scripted model and a receiver of requests. */
export interface World {
  readonly cloud: Cloud;
  readonly model: ScriptedModel;
  readonly sink: Sink;
  close(): Promise<void>;
}

export const startWorld = async (
  environment: Environment = {},
  answer?: Parameters<typeof startSink>[0],
): Promise<World> => {
  const [model, sink] = await Promise.all([startScriptedModel(), startSink(answer)]);
  const closeServers = () => Promise.all([model.close(), sink.close()]);
  try {
    const cloud = await startCloud({
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'key-of-the-operator',
      ...environment,
      // The model is also reached as an account of the organisation, which goes through the guarded fetch.
      EGRESS_ALLOW: [sink.host, model.host, environment.EGRESS_ALLOW ?? []].flat().join(','),
    });
    const close = async (): Promise<void> => {
      await cloud.stop();
      await closeServers();
    };
    return { cloud, model, sink, close };
  } catch (error) {
    await closeServers();
    throw error;
  }
};

import { buildApp } from 'fauxqs';

type App = ReturnType<typeof buildApp>;
type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>;
type S3Store = Stores['s3Store'];

/** The parts of fauxqs that its package does not export. */
interface Modules {
  readonly SqsStore: new () => Stores['sqsStore'];
  readonly SnsStore: new () => Stores['snsStore'];
  readonly S3Store: new () => S3Store;
  readonly PersistenceManager: new (dataDir: string) => { loadS3(store: S3Store): void; close(): void };
}

/**
 * fauxqs's object store as an app that listens nowhere. Its own start listens on every interface of the machine and
 * checks no signature; here the gateway is the only way in. The inner modules are loaded by path from the pinned version.
 * @param dataDir folder for the SQLite file that keeps buckets and objects
 */
export async function openObjectApp(
  dataDir: string,
): Promise<{ app: App; store: S3Store; close: () => Promise<void> }> {
  const load = async (path: string): Promise<Partial<Modules>> =>
    import(new URL(path, import.meta.resolve('fauxqs')).href);
  const found: Partial<Modules> = {
    ...(await load('./sqs/sqsStore.js')),
    ...(await load('./sns/snsStore.js')),
    ...(await load('./s3/s3Store.js')),
    ...(await load('./persistence.js')),
  };
  const { SqsStore, SnsStore, S3Store, PersistenceManager } = found;
  if (SqsStore === undefined || SnsStore === undefined || S3Store === undefined || PersistenceManager === undefined) {
    throw new Error('fauxqs does not have the modules that version 2.4.1 has; it must be installed as pinned.');
  }
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  const persistence = new PersistenceManager(dataDir);
  // Loaded before it is attached: otherwise each loaded row would be written again.
  persistence.loadS3(stores.s3Store);
  (stores.s3Store as { persistence?: unknown }).persistence = persistence;
  const app = buildApp({ logger: false, stores });
  await app.ready();
  return {
    app,
    store: stores.s3Store,
    async close() {
      await app.close();
      persistence.close();
    },
  };
}

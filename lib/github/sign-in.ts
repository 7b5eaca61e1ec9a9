import { ProviderError, type ProviderOf } from '../router/channel.ts';
import type { Clients } from './clients.ts';
import { toProviderError } from './failure.ts';
import { PERMISSIONS } from './permissions.ts';
import { type AppAccount, appJwt, mintToken, type Token } from './token.ts';

type Source = Parameters<ProviderOf>[0];
type Secrets = Parameters<ProviderOf>[1];
type Needs = Parameters<ProviderOf>[2];

interface Name {
  readonly owner: string;
  readonly repo: string;
}

/** How one provider signs in, and what it may reach. */
export interface SignIn {
  /** @throws ProviderError */
  headers(doing: 'read' | 'write'): Promise<{ readonly authorization: string }>;
  /** @throws ProviderError `refused` for another repository than the provider was made for */
  repository(repositoryId: string): Promise<Name>;
  /** @throws ProviderError */
  check(): Promise<{ readonly login?: string }>;
}

/** A token that ends sooner is not used any more, ms. */
const LEAST_LEFT_MS = 300_000;
/** A repository is renamed seldom, and GitHub leads from the old name to the new one. */
const NAME_FOR_MS = 600_000;
const MOST_KNOWN = 1_000;

interface Kept<T> {
  readonly value: T;
  readonly until: number;
}

const remember = <T>(kept: Map<string, Kept<T>>, key: string, value: T, until: number): void => {
  if (kept.size >= MOST_KNOWN) kept.clear();
  kept.set(key, { value, until });
};

export const makeSignIn = (clock: { now(): number }) => {
  /** Readings come in rows, so that their tokens are kept; a token for writing serves one effect. */
  const tokens = new Map<string, Kept<Token>>();
  const names = new Map<string, Kept<Name>>();

  return ({ reading, writing }: Clients, source: Source, secrets: Secrets, needs: Needs): SignIn => {
    let own: Token | undefined;

    const appAccount = (): AppAccount => {
      const { appId, installationId } = source;
      const { privateKey } = secrets;
      if (appId === undefined || installationId === undefined || privateKey === undefined) {
        throw new ProviderError('unauthorized', 'The source has no appId, installationId or privateKey.');
      }
      return { appId, privateKey, installationId: Number(installationId) };
    };

    const installationToken = async (): Promise<Token> => {
      const isGood = (token: Token | undefined): token is Token =>
        token !== undefined && token.endsAt - clock.now() >= LEAST_LEFT_MS;
      if (isGood(own)) return own;
      // The document of secrets is part of the name: another key is another account.
      const key = [source.id, source.secretRef, source.installationId, needs.repositoryId ?? ''].join(' ');
      const known = needs.verb === 'read' ? tokens.get(key)?.value : undefined;
      if (isGood(known)) return known;
      const wanted = { permissions: PERMISSIONS[needs.verb], repositoryId: needs.repositoryId };
      own = await mintToken(writing, appAccount(), wanted, () => clock.now());
      if (needs.verb === 'read') remember(tokens, key, own, own.endsAt);
      return own;
    };

    const authorization = async (): Promise<string> => {
      if (source.signsInBy === 'app') return `Bearer ${(await installationToken()).token}`;
      if (secrets.token === undefined) throw new ProviderError('unauthorized', 'The source has no token.');
      return `Bearer ${secrets.token}`;
    };

    /** As GitHub lists what the account reaches; a token of an installation reaches the one that it was minted for. */
    const findName = async (repositoryId: string): Promise<Name> => {
      const headers = { authorization: await authorization() };
      const list = async (page: number) => {
        const common = { per_page: 100, page, headers };
        return source.signsInBy === 'app'
          ? (await reading.request('GET /installation/repositories', common)).data.repositories
          : (await reading.request('GET /user/repos', common)).data;
      };
      for (let page = 1; page <= 10; page++) {
        const found = await list(page);
        const repository = found.find(({ id }) => String(id) === repositoryId);
        if (repository !== undefined) return split(repository.full_name);
        if (found.length < 100) break;
      }
      throw new ProviderError('gone', 'The account does not reach that repository.', { status: 404 });
    };

    return {
      headers: async () => ({ authorization: await authorization() }),

      async repository(repositoryId) {
        if (needs.repositoryId !== undefined && needs.repositoryId !== repositoryId) {
          throw new ProviderError('refused', 'It may act in another repository only.');
        }
        const listed = source.repositories?.find(({ id }) => id === repositoryId);
        if (source.repositories !== undefined && listed === undefined) {
          throw new ProviderError('refused', 'The source does not name that repository.');
        }
        if (listed !== undefined) return split(listed.fullName);
        const key = `${source.id} ${repositoryId}`;
        const known = names.get(key);
        if (known !== undefined && known.until > clock.now()) return known.value;
        try {
          const name = await findName(repositoryId);
          remember(names, key, name, clock.now() + NAME_FOR_MS);
          return name;
        } catch (error) {
          throw toProviderError(error, 'read', clock.now());
        }
      },

      async check() {
        try {
          if (source.signsInBy !== 'app') {
            const { data } = await reading.request('GET /user', { headers: { authorization: await authorization() } });
            return { login: data.login };
          }
          const account = appAccount();
          await mintToken(writing, account, { permissions: { metadata: 'read' }, repositoryId: undefined }, () =>
            clock.now(),
          );
          const { data } = await reading.request('GET /app', {
            headers: { authorization: `Bearer ${await appJwt(account)}` },
          });
          return data?.slug === undefined ? {} : { login: `${data.slug}[bot]` };
        } catch (error) {
          throw toProviderError(error, 'read', clock.now());
        }
      },
    };
  };
};

const NAME = /^[A-Za-z0-9_.-]{1,100}$/;
const DOTS = /^\.{1,2}$/;

/** @throws ProviderError `refused`: it becomes part of an address, and a person may have entered it */
const split = (fullName: string): Name => {
  const [owner = '', repo = '', ...more] = fullName.split('/');
  const good = more.length === 0 && [owner, repo].every((part) => NAME.test(part) && !DOTS.test(part));
  if (!good) throw new ProviderError('refused', `That is no name of a repository: ${fullName.slice(0, 200)}`);
  return { owner, repo };
};

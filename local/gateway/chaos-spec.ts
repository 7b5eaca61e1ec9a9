/** Probabilities 0 to 1. All zero: no chaos. */
export interface ChaosSpec {
  readonly duplicate: number;
  readonly reorder: number;
  readonly delay: number;
  /** How long a delayed delivery waits. */
  readonly delaySeconds: number;
  readonly throttle: number;
  readonly conflict: number;
  readonly kill: number;
  readonly seed: number;
}

const QUIET: ChaosSpec = {
  duplicate: 0,
  reorder: 0,
  delay: 0,
  delaySeconds: 0,
  throttle: 0,
  conflict: 0,
  kill: 0,
  seed: 1,
};

const EXPECTED = "'duplicate=P', 'reorder=P', 'delay=P:SECONDS', 'throttle=P', 'conflict=P', 'kill=P' or 'seed=N'";

/**
 * Reads `BATON_CHAOS`: a comma list such as `duplicate=0.1,delay=0.2:3,seed=7`. Empty means none.
 * @throws Error with a sentence that names the part that cannot be read
 */
export function parseChaos(text: string): ChaosSpec {
  const spec: { -readonly [name in keyof ChaosSpec]: number } = { ...QUIET };
  const seen = new Set<string>();
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const [, name = '', value = ''] = /^([a-z]+)=(.+)$/.exec(part) ?? [];
    if (seen.has(name)) throw refuse(part, `'${name}' is given twice`);
    seen.add(name);
    switch (name) {
      case 'duplicate':
      case 'reorder':
      case 'throttle':
      case 'conflict':
      case 'kill':
        spec[name] = probability(part, value);
        break;
      case 'delay': {
        const [, chance = '', seconds = ''] = /^([^:]+):(\d+(?:\.\d+)?)$/.exec(value) ?? [];
        if (seconds === '') throw refuse(part, "a delay is written 'delay=P:SECONDS', as in 'delay=0.2:3'");
        spec.delay = probability(part, chance);
        spec.delaySeconds = Number(seconds);
        if (spec.delaySeconds > 900) throw refuse(part, 'SECONDS must be at most 900');
        break;
      }
      case 'seed':
        if (!/^\d{1,10}$/.test(value)) throw refuse(part, 'the seed must be a whole number');
        spec.seed = Number(value);
        break;
      default:
        throw refuse(part, `expected ${EXPECTED}`);
    }
  }
  return spec;
}

function probability(part: string, text: string): number {
  const value = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 0 && value <= 1)) throw refuse(part, 'P must be a number from 0 to 1');
  return value;
}

const refuse = (part: string, why: string): Error => new Error(`BATON_CHAOS cannot be read at '${part}': ${why}.`);

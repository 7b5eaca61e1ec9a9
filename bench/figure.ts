export interface Target {
  readonly kind: 'hard' | 'aim';
  readonly most?: number;
  readonly least?: number;
}

export interface Figure {
  /** Stable, for the baseline. */
  readonly id: string;
  readonly label: string;
  readonly unit: string;
  readonly value: number | undefined;
  readonly target?: Target;
}

export const figure = (
  id: string,
  label: string,
  unit: string,
  value: number | undefined,
  target?: Target,
): Figure => ({
  id,
  label,
  unit,
  value,
  ...(target && { target }),
});
export const hard = (most: number): Target => ({ kind: 'hard', most });
export const atLeast = (least: number): Target => ({ kind: 'hard', least });
export const aim = (most: number): Target => ({ kind: 'aim', most });

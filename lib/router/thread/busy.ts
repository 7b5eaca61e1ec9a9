/** Races that are lost are run again: as many times as there are others who might be faster. */
export const MAX_TRIES = 12;
export const BUSY = 'The Thread changed each time that it was read.';

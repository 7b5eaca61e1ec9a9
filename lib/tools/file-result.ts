import * as z from 'zod';
import { AppError } from '../kernel/errors.ts';
import type { ToolResult } from './tool.ts';

/**
 * All file tools name this one resource, so that the calls of one reply act on files in the order the model wrote them:
 * a `list_files` after a `write_file` shows the file.
 */
export const FILES = 'files';

export const pathField = z
  .string()
  .min(1)
  .max(512)
  .describe('Relative path with "/" between folders, like "report.md" or "data/figures.csv".');

/** A refused path or size is an answer that the model can act on; everything else is a failure of the step. */
export const answering = async (act: () => Promise<ToolResult>): Promise<ToolResult> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof AppError) return { ok: false, text: error.message };
    throw error;
  }
};

/** Byte length of text with its unit: "1 byte", "12 bytes". */
export const bytesText = (bytes: number): string => `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;

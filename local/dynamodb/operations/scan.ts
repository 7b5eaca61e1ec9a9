import { createHash } from 'node:crypto';
import { validations } from '../dynalite.ts';
import { parseRequest } from '../requests.ts';
import type { RangeRow } from '../store/store.ts';
import type { Operation } from './operation.ts';
import { afterStart, indexFor, pageOf, type RangeRequest, startOf } from './range-read.ts';

interface ScanRequest extends RangeRequest {
  readonly Segment?: number;
  readonly TotalSegments?: number;
}

/** For tests and tools: the product never scans. `Segment` and `TotalSegments` share the rows out by partition key. */
export const scan: Operation = ({ store }, body) => {
  // dynalite does not know ConsistentRead on Scan.
  const request = parseRequest<ScanRequest>(body, {
    ...validations.scan,
    types: { ...validations.scan.types, ConsistentRead: 'Boolean' },
  });
  const table = store.table(request.TableName);
  const index = indexFor(request, table);
  const start = startOf(request, table, index);
  const bound = start === undefined ? undefined : afterStart(start, index !== undefined, false);
  const rows = store.range({
    table,
    index,
    where: bound === undefined ? [] : [bound.where],
    values: bound?.values ?? [],
    backward: false,
  });
  return pageOf(segmentOf(rows, request), request, table, index);
};

function* segmentOf(rows: Iterable<RangeRow>, { Segment, TotalSegments }: ScanRequest): Iterable<RangeRow> {
  for (const row of rows) {
    if (Segment === undefined || TotalSegments === undefined) yield row;
    else if (createHash('md5').update(row.hash).digest().readUInt32BE() % TotalSegments === Segment) yield row;
  }
}

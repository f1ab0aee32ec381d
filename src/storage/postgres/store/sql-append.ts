import type { Names } from '../names.ts'
import { NOW } from './sql-store.ts'

/**
 * What most commits are, an append by the holder of the lease: the same as `commit`, with less to read. The head is null where a
 * guard does not hold; nothing was written then. The clock is read again once the row is locked.
 */
export function appendFunction({ of }: Names): string {
  return `
CREATE FUNCTION ${of('append')}(
  p_partition text, p_fence bigint, p_head bigint, p_count integer, p_layout text, p_data bytea, OUT head bigint
) LANGUAGE plpgsql AS $body$
BEGIN
  UPDATE ${of('partitions')} AS p SET head = p.head + p_count, bytes = p.bytes + length(p_data)
  WHERE p.partition = p_partition
    AND p.lease_token = p_fence AND p.lease_until > ${NOW}
    AND (p_head IS NULL OR p.head = p_head)
  RETURNING p.head INTO head;
  IF FOUND THEN
    INSERT INTO ${of('events')} (partition, first, last, bytes, at, layout, data)
    VALUES (p_partition, head - p_count + 1, head, length(p_data), ${NOW}, p_layout, p_data);
  END IF;
END
$body$;
`
}

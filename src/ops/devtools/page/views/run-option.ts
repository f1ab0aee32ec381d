import type { Span } from '../model/spans.ts'
import { clockText, shortId } from '../model/text.ts'

/** A run as an option of a list. */
export const runOption = ({ id, startedAt, status }: Span) =>
  [id, `${clockText(startedAt)} ${status} ${shortId(id)}`] as const

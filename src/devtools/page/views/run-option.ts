import type { Span } from '../model/spans.ts'
import { clockText, shortId } from '../model/text.ts'

/** A run in a list to choose from. */
export const runOption = ({ id, startedAt, status }: Span) =>
  [id, `${clockText(startedAt)} ${status} ${shortId(id)}`] as const

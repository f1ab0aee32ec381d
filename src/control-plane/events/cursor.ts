import { refusal } from '../errors.ts'

/** The position of a reader: the last sequence number that it has of each log. */
export interface Cursor {
  readonly status: number
  readonly build: number
  readonly deploy: number
  /** Whose build log it is. Null before the first revision. */
  readonly revisionId: string | null
}

const FORM = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.([\da-f-]{36})?$/

/** The text of a cursor, which is the `id` of its event. */
export const formatCursor = ({ status, build, deploy, revisionId }: Cursor): string =>
  `${status}.${build}.${deploy}.${revisionId ?? ''}`

/** Throws 400 for text that is no cursor. */
export function parseCursor(text: string): Cursor {
  const [, status, build, deploy, revisionId] = FORM.exec(text) ?? []
  if (status === undefined)
    throw refusal(
      400,
      "Last-Event-ID: expected the 'id' of an event of this stream. Leave it out to begin anew.",
    )
  return {
    status: Number(status),
    build: Number(build),
    deploy: Number(deploy),
    revisionId: revisionId ?? null,
  }
}

import { refusal } from '../errors.ts'

/** A reader's position: its last sequence number in each log. */
export interface Cursor {
  readonly status: number
  readonly build: number
  readonly deploy: number
  /** The revision of the build log. Null before the first revision. */
  readonly revisionId: string | null
}

const FORM = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.([\da-f-]{36})?$/

/** A cursor's text, which is the `id` of its event. */
export const formatCursor = ({ status, build, deploy, revisionId }: Cursor): string =>
  `${status}.${build}.${deploy}.${revisionId ?? ''}`

/** Throws 400 for an invalid cursor. */
export function parseCursor(text: string): Cursor {
  const [, status, build, deploy, revisionId] = FORM.exec(text) ?? []
  if (status === undefined)
    throw refusal(
      400,
      "Last-Event-ID: expected the 'id' of an event of this stream. Omit it to start from the beginning.",
    )
  return {
    status: Number(status),
    build: Number(build),
    deploy: Number(deploy),
    revisionId: revisionId ?? null,
  }
}

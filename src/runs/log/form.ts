import type { LogGap, LoggedEvent, ThreadEvent } from '../../events/index.ts'
import { plainEvent } from './decode.ts'

/** How a reader wants events. */
export interface EventForm<Json extends boolean = boolean, Batches extends boolean = boolean> {
  /** With their data as JSON in addition, which is parsed at each read of `data`: for code that passes most of them on. Default false. */
  readonly json?: Json | undefined
  /** As many at a time as there are, for code that sends those together. A batch may be empty. Default false. */
  readonly batches?: Batches | undefined
}

/** An event as its reader wants it, or as many at a time as there are. A batch may be empty. */
export type EventItem<Json extends boolean, Batches extends boolean> = Batches extends true
  ? readonly EventOf<Json>[]
  : EventOf<Json>

/** A gap stands for the events that the log no longer has. */
export type EventOf<Json extends boolean> = (Json extends true ? LoggedEvent : ThreadEvent) | LogGap

export type EventStream<Json extends boolean, Batches extends boolean> = AsyncGenerator<
  EventItem<Json, Batches>,
  void,
  undefined
>

/** What was logged, as many events at a time as there are. */
export type LoggedEvents = AsyncGenerator<readonly (LoggedEvent | LogGap)[], void, undefined>

/** Gives what was logged in the form that its reader wants. */
export async function* inForm(
  source: LoggedEvents,
  { json = false, batches = false }: EventForm,
): EventStream<boolean, boolean> {
  for await (const logged of source) {
    const events = formed(logged, { json })
    if (batches) yield events
    else yield* events
  }
}

/** The events of one batch in that form. */
export const formed = (
  logged: readonly (LoggedEvent | LogGap)[],
  { json = false }: Pick<EventForm, 'json'>,
): readonly EventOf<boolean>[] =>
  json ? logged : logged.map((event) => (event.type === 'gap' ? event : plainEvent(event)))

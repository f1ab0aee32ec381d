import type { LogGap, LoggedEvent, ThreadEvent } from '../../messages/thread-events/index.ts'
import { plainEvent } from './decode.ts'

/** The form of events that a reader wants. */
export interface EventForm<Json extends boolean = boolean, Batches extends boolean = boolean> {
  /**
   * Whether events also have their data as JSON text. Each access to `data` then parses the text, which is
   * efficient for code that passes most events on unread. Default: false.
   */
  readonly json?: Json | undefined
  /**
   * Whether events come in batches, for code that sends them together. A batch may be empty. Default: false.
   */
  readonly batches?: Batches | undefined
}

/** An event in the requested form, or a batch of events. A batch may be empty. */
export type EventItem<Json extends boolean, Batches extends boolean> = Batches extends true
  ? readonly EventOf<Json>[]
  : EventOf<Json>

/** A gap replaces events that the log no longer has. */
export type EventOf<Json extends boolean> = (Json extends true ? LoggedEvent : ThreadEvent) | LogGap

/** The events of a subscription, in the requested form. */
export type EventStream<Json extends boolean, Batches extends boolean> = AsyncGenerator<
  EventItem<Json, Batches>,
  void,
  undefined
>

/** Logged events, in batches. */
export type LoggedEvents = AsyncGenerator<readonly (LoggedEvent | LogGap)[], void, undefined>

/** Converts logged events to the requested form. */
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

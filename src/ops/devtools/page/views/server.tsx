/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import type { HeldRow, LeaseRow, QueuedRow, ServerInfo, StoreRow, Work } from '../../wire.ts'
import { ask } from '../data/api.ts'
import { routeTo, usePolled } from '../data/hooks.ts'
import { bytesText, durationText, shortId } from '../model/text.ts'
import { Action, BackLink, Empty, Problem, Table } from './parts.tsx'

const POLL_MS = 3_000

export function ServerView() {
  const { data: server, error } = usePolled<ServerInfo>('/server', POLL_MS)
  const { data: work } = usePolled<Work>('/work', POLL_MS)
  if (error && error.status > 0) return <Problem>{error.message}</Problem>
  if (!server) return <Empty>Loading…</Empty>
  const { threads, store, load } = server
  return (
    <article class="server" aria-label="Server">
      <BackLink />
      <h1>Server</h1>
      <p class="facts line wrap small dim">
        <span>
          {store.name} store{store.shared ? ', shared by processes' : ''}
          {store.durable ? ', durable' : ''}
        </span>
        <span>agents: {server.agents.join(', ')}</span>
        <span>{server.principal === null ? 'no authentication' : `you are ${server.principal}`}</span>
      </p>
      <dl class="tiles">
        <Tile name="Your threads" value={threads.all} />
        <Tile name="running" value={threads.busy} />
        <Tile name="interrupted" value={threads.interrupted} />
        <Tile name="failed" value={threads.error} />
        {load && <Tile name="runs in this process" value={load.running} />}
        {load && <Tile name="runs waiting, all owners" value={load.queued} />}
        {load && <Tile name="subscribers" value={load.subscribers} />}
        {load && <Tile name="events behind" value={load.lag} />}
      </dl>
      <h2>Leases</h2>
      {work ? <Held {...work} /> : <Empty>Loading…</Empty>}
      <h2>Queue</h2>
      {work ? <Queue {...work} /> : <Empty>Loading…</Empty>}
      <h2>Store</h2>
      {load ? <Store /> : <Empty>Only operators can see the contents of the whole store.</Empty>}
    </article>
  )
}

const Tile = ({ name, value }: { readonly name: string; readonly value: number | string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value.toLocaleString()}</dd>
  </div>
)

const ThreadLink = ({ row }: { readonly row: HeldRow | QueuedRow }) => (
  <a href={routeTo('threads', row.thread_id, 'log')}>{row.title ?? shortId(row.thread_id)}</a>
)

/** Who works on which thread, and until when nobody else may. */
const Held = ({ held, now }: Work) =>
  held.length === 0 ? (
    <Empty>No run is in progress.</Empty>
  ) : (
    <Table
      rows={held}
      keyOf={(row) => row.thread_id}
      columns={[
        ['Thread', (row) => <ThreadLink row={row} />],
        ['Run', (row) => (row.run_id ? shortId(row.run_id) : '–'), 'number'],
        ['Held by', (row) => holderText(row.lease)],
        ['Token', (row) => row.lease?.token ?? '–', 'number'],
        ['Until', (row) => untilText(row.lease, now), 'number'],
      ]}
    />
  )

const holderText = (lease: LeaseRow | null): string =>
  lease ? `${lease.is_here ? 'this process ' : ''}${shortId(lease.holder)}` : 'nobody: it will be taken over'

/** A lease in a store of one process is given for a hundred years. */
const FOR_EVER_MS = 365 * 24 * 60 * 60 * 1_000

function untilText(lease: LeaseRow | null, now: number): string {
  if (!lease) return '–'
  const left = lease.expires_at - now
  return left > FOR_EVER_MS ? 'the process ends' : left <= 0 ? 'expired' : `${durationText(left)} left`
}

const Queue = ({ queued, now }: Work) =>
  queued.length === 0 ? (
    <Empty>No run waits.</Empty>
  ) : (
    <Table
      rows={queued}
      keyOf={(row) => row.run_id}
      columns={[
        ['Thread', (row) => <ThreadLink row={row} />],
        ['Run', (row) => shortId(row.run_id), 'number'],
        ['Position', (row) => row.position, 'number'],
        ['Waits for', (row) => waitText(row, now), 'number'],
      ]}
    />
  )

const waitText = ({ created_at }: QueuedRow, now: number): string =>
  created_at === null ? '–' : durationText(Math.max(0, now - created_at))

/** Counted when somebody asks, because a large store takes long. */
function Store() {
  const [store, setStore] = useState<StoreRow>()
  return (
    <>
      <Action run={async () => setStore(await ask<StoreRow>('/store'))}>
        {store ? 'Count again' : 'Count what the store holds'}
      </Action>
      {store && (
        <>
          {store.warnings.map((warning) => (
            <p key={warning} class="warning">
              {warning}
            </p>
          ))}
          <dl class="tiles">
            {Object.entries(store.counts).map(([name, count]) => (
              <Tile key={name} name={name} value={count!} />
            ))}
            <Tile name="size" value={store.bytes === null ? 'unknown' : bytesText(store.bytes)} />
            {store.schema.newest > 0 && (
              <Tile name="schema" value={`${store.schema.version} of ${store.schema.newest}`} />
            )}
          </dl>
        </>
      )}
    </>
  )
}

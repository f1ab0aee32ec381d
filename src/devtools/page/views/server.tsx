/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import type { LeaseRow, ServerInfo, StoreRow, Work } from '../../wire.ts'
import { ask } from '../data/api.ts'
import { routeTo, usePolled } from '../data/hooks.ts'
import { bytesText, durationText, shortId } from '../model/text.ts'
import { Action, Empty, Problem } from './parts.tsx'

const POLL_MS = 3_000

export function ServerView() {
  const { data: server, error } = usePolled<ServerInfo>('/server', POLL_MS)
  const { data: work } = usePolled<Work>('/work', POLL_MS)
  if (error && error.status > 0) return <Problem>{error.message}</Problem>
  if (!server) return <Empty>Loading…</Empty>
  const { threads, store, load } = server
  return (
    <article class="server" aria-label="Server">
      <a class="back" href={routeTo()} aria-label="Back to the threads">
        ‹
      </a>
      <h1>Server</h1>
      <p class="facts">
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
      <Held work={work} />
      <h2>Queue</h2>
      <Queue work={work} />
      <h2>Store</h2>
      {load ? <Store /> : <Empty>What the whole store holds is shown to operators only.</Empty>}
    </article>
  )
}

const Tile = ({ name, value }: { readonly name: string; readonly value: number }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value.toLocaleString()}</dd>
  </div>
)

interface ThreadLinkProps {
  readonly row: { readonly thread_id: string; readonly title: string | null }
}

const ThreadLink = ({ row }: ThreadLinkProps) => (
  <a href={routeTo('threads', row.thread_id, 'log')}>{row.title ?? shortId(row.thread_id)}</a>
)

/** Who works on which thread, and until when nobody else may. */
function Held({ work }: { readonly work: Work | undefined }) {
  if (!work) return <Empty>Loading…</Empty>
  if (work.held.length === 0) return <Empty>No run is in progress.</Empty>
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Thread</th>
            <th>Run</th>
            <th>Held by</th>
            <th>Token</th>
            <th>Until</th>
          </tr>
        </thead>
        <tbody>
          {work.held.map((row) => (
            <tr key={row.thread_id}>
              <td>
                <ThreadLink row={row} />
              </td>
              <td class="number">{row.run_id ? shortId(row.run_id) : '–'}</td>
              <td>
                {row.lease
                  ? `${row.lease.is_here ? 'this process ' : ''}${shortId(row.lease.holder)}`
                  : 'nobody: it will be taken over'}
              </td>
              <td class="number">{row.lease?.token ?? '–'}</td>
              <td class="number">{untilText(row.lease, work.now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A lease in a store of one process is given for a hundred years. */
const FOR_EVER_MS = 365 * 24 * 60 * 60 * 1_000

function untilText(lease: LeaseRow | null, now: number): string {
  if (!lease) return '–'
  const left = lease.expires_at - now
  return left > FOR_EVER_MS ? 'the process ends' : left <= 0 ? 'expired' : `${durationText(left)} left`
}

function Queue({ work }: { readonly work: Work | undefined }) {
  if (!work) return <Empty>Loading…</Empty>
  if (work.queued.length === 0) return <Empty>No run waits.</Empty>
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Thread</th>
            <th>Run</th>
            <th>Place</th>
            <th>Waits for</th>
          </tr>
        </thead>
        <tbody>
          {work.queued.map((row) => (
            <tr key={row.run_id}>
              <td>
                <ThreadLink row={row} />
              </td>
              <td class="number">{shortId(row.run_id)}</td>
              <td class="number">{row.position}</td>
              <td class="number">
                {row.created_at === null ? '–' : durationText(Math.max(0, work.now - row.created_at))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

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
            <div>
              <dt>size</dt>
              <dd>{store.bytes === null ? 'unknown' : bytesText(store.bytes)}</dd>
            </div>
            {store.schema.newest > 0 && (
              <div>
                <dt>schema</dt>
                <dd>
                  {store.schema.version} of {store.schema.newest}
                </dd>
              </div>
            )}
          </dl>
        </>
      )}
    </>
  )
}

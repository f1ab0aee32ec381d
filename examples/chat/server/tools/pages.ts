/** The pages that the researcher can search: Markdown with a heading and paragraphs, by file name. */
export const PAGES: Readonly<Record<string, string>> = {
  'checkpoints.md': `# Checkpoints

A checkpoint is a copy of an agent's whole state, saved after each step of its work. With checkpoints a conversation survives the
process that ran it: the next run of the same thread goes on from the newest one.

Because every checkpoint names its parent, the history of a thread is a tree. Starting a run from an older checkpoint makes a fork:
the old branch stays as it was, and the new one grows beside it. That is how editing an earlier message works.`,
  'coffee.md': `# Coffee

Coffee is a drink made from the roasted seeds of the coffee plant. It probably came into use in Yemen in the fifteenth century, where
it helped people to stay awake during nightly devotions, and reached Europe by way of trade in the Mediterranean.

Caffeine works by blocking the receptors of adenosine, a substance that gathers in the brain while we are awake and makes us sleepy.
It does not remove tiredness; it hides it for some hours.`,
  'deep-agents.md': `# Deep agents

A deep agent is an agent that plans, keeps notes in files, and hands parts of its work to subagents. The agent you talk to sees only
what a subagent reports at the end, so long research does not crowd its memory.

Subagents are started by calling a tool named task, with the kind of subagent and a description of the job. Several tasks can run at
the same time; each has its own conversation, its own tools, and perhaps its own model.`,
  'interrupts.md': `# Interrupts and approval

An interrupt is a question that an agent asks a person in the middle of a run, for instance whether a letter may be sent. The run
ends as interrupted, its state is saved, and nothing waits in memory: the answer may come a second later or next week.

The answer starts a new run from the saved state. With the approval of tools a person can approve a call as it is, edit its
arguments, or reject it; a rejected call is reported to the model, which can then think of something else.`,
  'server-sent-events.md': `# Server-sent events

Server-sent events are a way for a web server to push text to a client over one ordinary HTTP response that stays open. Each event
is a few lines (id, event, data) and ends with an empty line, so that a person can read the stream as it passes.

A client that loses the connection connects again and sends the id of the last event it saw in a Last-Event-ID header. The server
answers with what came after it. Comment lines, which begin with a colon, keep quiet connections alive.

They go one way only. For what the client wants to say, it makes ordinary requests beside the stream, which is why they pass
through proxies and work with every framework that can write a response piece by piece.`,
  'streaming.md': `# The Agent Streaming Protocol

The Agent Streaming Protocol is how a client talks to a running agent. It sends commands, such as run.start, and reads events, such as
a piece of a message, a tool that started, or the state after a step. Every event has a number that rises and never repeats.

A thread is one conversation and keeps its events in one numbered log. A client may open several streams on it, each with a filter,
join late, or come back after a pause: it is told everything that matches, once and in order.`,
}

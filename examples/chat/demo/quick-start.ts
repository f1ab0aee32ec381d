import { pathToFileURL } from 'node:url'

/** The control plane's quick start as shell lines: create, wait until deployed, send a message, update. */
export function quickStart(origin: string, key: string, repository: string): string {
  const create = {
    name: 'my-agent',
    source: 'github',
    source_config: {
      integration_id: '00000000-0000-4000-8000-000000000000',
      repo_url: pathToFileURL(repository).href,
      deployment_type: 'dev',
      build_on_push: false,
    },
    source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
    secrets: [{ name: 'GREETING', value: 'Good morning' }],
  }
  const update = { secrets: [{ name: 'GREETING', value: 'Good evening' }] }
  // A message that is sent again with the same id gets the earlier answer, because the agent stores its
  // threads.
  const send = (messageId: string) => {
    const message = { role: 'user', messageId, parts: [{ kind: 'text', text: 'Who are you?' }] }
    return { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
  }
  const body = (value: object) => `-H 'content-type: application/json' -d '${JSON.stringify(value)}'`
  return `api=${origin}/v2/deployments
call() { curl -s -H 'x-api-key: ${key}' "$@"; }
field() { node -pe "JSON.parse(require('fs').readFileSync(0)).$1"; }

id=$(call $api ${body(create)} | field id)
revision=$(call $api/$id | field latest_revision_id)
call $api/$id/revisions/$revision -H 'prefer: wait=30' | field status
url=$(call $api/$id | field source_config.custom_url)
curl -s $url/a2a/agent ${body(send('m1'))} | field result.artifacts[0].parts[0].text

revision=$(call -X PATCH $api/$id ${body(update)} | field latest_revision_id)
call $api/$id/revisions/$revision -H 'prefer: wait=30' | field status
curl -s $url/a2a/agent ${body(send('m2'))} | field result.artifacts[0].parts[0].text`
}

# To be sourced by bash, from anywhere. Sees to it that the suites that need Docker can run:
#
#   . .ci/docker.sh
#   trap docker_down EXIT
#   docker_up
#
# Beside a checkout there may be programs that bring up an engine, and build images where none can be pulled:
# ../shared/docker/engine and ../shared/docker/images. Where they are not, whatever engine the machine has is used.

docker_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
docker_started_pid=

docker_answers() {
  timeout 20 docker info >/dev/null 2>&1 && timeout 20 docker compose version >/dev/null 2>&1
}

# The images that the stack is made of, the one its services are built on included; not the services themselves.
docker_base_images() {
  sed -n 's/^ARG NODE_IMAGE=//p' "$docker_root/infra/docker/Dockerfile"
  WAYBILL_API_KEYS=unset WAYBILL_SECRET_KEYS=unset docker compose --project-name waybill \
    --project-directory "$docker_root" --file "$docker_root/docker-compose.yml" config --images | grep -v '^waybill-'
}

# Brings up what is missing. Where there is an engine, or the means to bring one up, it sets WAYBILL_REQUIRE_DOCKER:
# the suites then fail if there is no Docker, and are not skipped. Without means it says so and succeeds.
docker_up() {
  local began=$SECONDS tools="$docker_root/../shared/docker" running images
  running=$(timeout 20 docker info --format '{{.ServerVersion}}' 2>/dev/null || true)
  if ! docker_answers; then
    if [ ! -x "$tools/engine" ]; then
      echo 'docker: no engine with compose answers; the suites that need one are skipped' >&2
      return 0
    fi
    export WAYBILL_REQUIRE_DOCKER=1
    echo 'docker: bringing up an engine' >&2
    if ! "$tools/engine" >&2 </dev/null || ! docker_answers; then
      echo "docker: the engine did not come up within $((SECONDS - began)) s" >&2
      return 1
    fi
    # Not ours to stop where only the compose plugin was missing.
    [ -n "$running" ] || docker_started_pid=$(cat /var/run/docker.pid)
  fi
  export WAYBILL_REQUIRE_DOCKER=1
  if [ -x "$tools/images" ]; then
    # shellcheck disable=SC2086 -- one argument per image
    if ! images=$(docker_base_images) || ! "$tools/images" $images >&2 </dev/null; then
      echo "docker: the images could not be built; gave up after $((SECONDS - began)) s" >&2
      return 1
    fi
  fi
  echo "docker: engine and images ready after $((SECONDS - began)) s" >&2
}

# Stops the engine if docker_up started it, and waits for its end. Safe to repeat.
docker_down() {
  local pid=$docker_started_pid second
  docker_started_pid=
  [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] || return 0
  kill "$pid" || return 0
  for second in $(seq 60); do
    [ -d "/proc/$pid" ] || return 0
    sleep 1
  done
  echo "docker: the engine (process $pid) has not ended after $second s" >&2
}

#!/usr/bin/env bash
# A dynascope sweep on the nodes of a SLURM job, through Ray.
#
#   dynascope sweep --slurm > job.sh
#   sbatch --nodes 4 --time 8:00:00 job.sh grid.toml runs/grid
#
# Options after the folder go to `dynascope sweep`, for instance --results shared. The folder must
# be on a file system that the first node can reach; with --results shared, all nodes.
#
# To resume, run the same command again. Two minutes before its time limit a job stops by itself and
# queues again. If a node fails, the job goes on with the others.
#
# Options of sbatch, which the command line overrides:
#SBATCH --job-name=dynascope
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --no-kill
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
# Instead of whole nodes (--exclusive): remove that line and say --cpus-per-task 16, for example.

set -euo pipefail
if [ $# -lt 2 ] || [ -z "${SLURM_JOB_ID:-}" ]; then
  echo "usage: sbatch --nodes N $0 GRID FOLDER [options of dynascope sweep]" >&2
  exit 2
fi

# Add here what makes `dynascope`, `ray` and their `python` available on a node, if the shell that
# calls sbatch does not have them, such as
#   module load python
#   source ~/venv/bin/activate

nodes=$SLURM_JOB_NUM_NODES
port=$((20000 + SLURM_JOB_ID % 10000))  # jobs that share a node do not meet
log=slurm-$SLURM_JOB_ID.ray.log
patience=120                            # seconds for nodes to join; later ones are used as well

# Other users are on the same network: only those who know this token may use the cluster.
RAY_AUTH_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export RAY_AUTH_TOKEN RAY_AUTH_MODE=token
export RAY_USAGE_STATS_ENABLED=0 RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S=0
unset RAY_ADDRESS

# The address of the node that this runs on, as SLURM's other nodes know it.
node_ip() {
  local name ip
  name=$(scontrol show node "$SLURMD_NODENAME" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
  ip=$(getent ahostsv4 "${name:-$(hostname)}" | awk 'NR == 1 { print $1 }')
  case $ip in
    "" | 127.*) hostname -I | awk '{ print $1 }' ;;  # a name that means "here" on its own node
    *) echo "$ip" ;;
  esac
}

# Ray on this node, until it is told to end; the arguments make it the head or a worker.
ray_node() {
  local folder ray
  folder=$(mktemp -d "/tmp/ray-$SLURM_JOB_ID-XXXX")
  ray start --block --node-ip-address="$(node_ip)" --num-cpus="$SLURM_CPUS_ON_NODE" \
    --temp-dir="$folder" --dashboard-agent-listen-port=0 --disable-usage-stats "$@" &
  ray=$!
  trap 'kill $ray 2> /dev/null || true' TERM
  while kill -0 $ray 2> /dev/null; do wait $ray || true; done  # a signal ends `wait`, not Ray
  rm -rf "$folder"
}
export -f node_ip ray_node

# The rest runs on the first node.
head='' workers='' sweep='' again=''

# shellcheck disable=SC2317  # it is the trap that calls it
end() {
  trap '' TERM USR1
  if [ -n "$workers" ]; then
    scancel --signal=TERM "$SLURM_JOB_ID.0" 2> /dev/null || true  # the only step: srun's
    for _ in $(seq 20); do kill -0 "$workers" 2> /dev/null && sleep 0.5; done
    kill "$workers" 2> /dev/null || true
  fi
  [ -z "$head" ] || kill "$head" 2> /dev/null || true
  wait
  if [ -n "$again" ]; then scontrol requeue "$SLURM_JOB_ID"; fi  # this ends the job: last of all
}
trap end EXIT
# shellcheck disable=SC2317  # and this
stop() {
  [ -n "$sweep" ] || { again=''; exit 143; }
  kill -TERM "$sweep" 2> /dev/null || true
}
trap stop TERM
trap 'again=1; stop' USR1

address=$(node_ip):$port
ray_node --head --port="$port" --ray-client-server-port=$((port + 10000)) \
  --include-dashboard=false >> "$log" 2>&1 &
head=$!
if [ "$nodes" -gt 1 ]; then
  srun --export=ALL --relative=1 --nodes=$((nodes - 1)) --ntasks=$((nodes - 1)) \
    --ntasks-per-node=1 --cpu-bind=none --no-kill --kill-on-bad-exit=0 \
    bash -c 'ray_node "$@"' ray_node --address="$address" >> "$log" 2>&1 &
  workers=$!
fi

# Connects when the head is there, then waits for the others.
joined() {
  python - "$address" "$nodes" "$patience" << 'PYTHON'
import logging, socket, sys, time
import ray

address, nodes, patience = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
host, port = address.rsplit(":", 1)
end = time.monotonic() + patience
while True:
    try:
        socket.create_connection((host, int(port)), 5).close()
        break
    except OSError:
        if time.monotonic() > end:
            sys.exit(1)
        time.sleep(0.5)
ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
while True:
    there = sum(node["Alive"] for node in ray.nodes())
    if there >= nodes or time.monotonic() > end:
        break
    time.sleep(0.5)
print(f"{there} of {nodes} nodes, {int(ray.cluster_resources().get('CPU', 0))} cores")
PYTHON
}
joined || { echo "Ray did not start; see $log" >&2; exit 1; }

dynascope sweep "$1" --out "$2" --ray "$address" "${@:3}" &
sweep=$!
code=0
while kill -0 "$sweep" 2> /dev/null; do  # a signal ends `wait`, not the sweep
  code=0
  wait "$sweep" || code=$?
done

if [ "$code" -eq 0 ] || [ "$SECONDS" -lt 30 ]; then again=''; fi  # done, or it would go round
if [ -n "$again" ]; then echo "The time is up; the job queues again and goes on from here."; fi
exit "$code"

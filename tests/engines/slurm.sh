#!/bin/sh
# Parts by a Slurm of this machine's own: an array of which a task is killed and requeued, and what --finish prints is
# submitted again. Needs root and Debian's packages slurmctld, slurmd, slurm-client and munge; own folders and ports.
# usage: slurm.sh PROGRAM
set -eu
. "$(dirname "$0")/common.sh"
for tool in slurmctld slurmd sbatch munged; do
    command -v $tool >/dev/null || install slurmctld slurmd slurm-client munge || skip "no Slurm"
done
[ "$(id -u)" = 0 ] || skip "Slurm wants root here"
chmod 755 .
mkdir -p ctld d munge && chown munge munge 2>/dev/null && chmod 755 munge || skip "no user munge"
head -c 1024 /dev/urandom >munge/key && chown munge munge/key && chmod 400 munge/key
runuser -u munge -- munged --foreground --key-file="$PWD/munge/key" --socket="$PWD/munge/socket" \
    --pid-file="$PWD/munge/pid" --log-file="$PWD/munge/log" --seed-file="$PWD/munge/seed" >munged.log 2>&1 &
MUNGED=$!
host=$(hostname -s)
cat >slurm.conf <<EOF
ClusterName=parts
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/munge/socket
StateSaveLocation=$PWD/ctld
SlurmdSpoolDir=$PWD/d
SlurmctldPidFile=$PWD/ctld/pid
SlurmdPidFile=$PWD/d/pid
SlurmctldLogFile=$PWD/ctld.log
SlurmdLogFile=$PWD/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP OverSubscribe=NO
EOF
export SLURM_CONF=$PWD/slurm.conf
slurmctld -D >/dev/null 2>&1 &
CTLD=$!
slurmd -D >/dev/null 2>&1 &
SLURMD=$!
stop() { kill "$SLURMD" "$CTLD" "$(cat munge/pid)" "$MUNGED" 2>/dev/null || :; wait 2>/dev/null || :; }
cat >part.sh <<'EOF'
#!/bin/sh
# the third task is killed in its first run, the ninth does nothing in its own
if [ "$SLURM_ARRAY_TASK_ID" = 3 ] && [ ! -e killed ]; then
    touch killed
    "$PROGRAM" convert data.npy --chunks 100,100 -o out.zarr --part 3/16 & sleep 0.02; kill -9 $!
    scontrol requeue "$SLURM_JOB_ID"; exit 1
fi
if [ "$SLURM_ARRAY_TASK_ID" = 9 ] && [ ! -e left ]; then touch left; exit 1; fi
exec "$PROGRAM" convert data.npy --chunks 100,100 -o out.zarr --part "$SLURM_ARRAY_TASK_ID/16"
EOF
for _ in $(seq 30); do sinfo -h -o %t 2>/dev/null | grep -q idle && break; sleep 1; done
sinfo -h -o %t | grep -q idle || { tail -3 ctld.log d.log; skip "this machine runs no Slurm"; }
submit() { timeout 30 sbatch --wait --requeue --array="$1" --output=/dev/null part.sh >/dev/null 2>&1 || :; }
submit 1-16
missing=$("$PROGRAM" convert data.npy --chunks 100,100 -o out.zarr --finish 16) && { echo "nothing was missing"; exit 1; }
case ,$missing, in *,9,*) ;; *) echo "missing: $missing"; exit 1 ;; esac
submit "$missing,5"
finished 16
